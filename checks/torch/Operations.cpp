#include "torch/Operations.h"
#include "llvm/ADT/StringMap.h"

namespace torchtidy::torch {

using namespace operation;

static constexpr Tri No = Tri::No, Maybe = Tri::Maybe, Yes = Tri::Yes;

static constexpr Operation Table[] = {
#define OPERATION(Name, Variants, Returns, View, Writes, Differentiable, Sync, \
                  Flags)                                                       \
  {Name, Variants, Returns, View, Writes, Differentiable, Sync, Flags},
#include "torch/OperationTable.inc"
#undef OPERATION
};

const Operation *findOperation(llvm::StringRef Name, Variant Variant) {
  static const llvm::StringMap<const Operation *> Index = [] {
    llvm::StringMap<const Operation *> Result(std::size(Table));
    for (const Operation &Row : Table)
      Result[Row.Name] = &Row;
    return Result;
  }();
  const Operation *Row = Index.lookup(Name);
  return Row && (Row->Variants & Variant) ? Row : nullptr;
}

} // namespace torchtidy::torch
