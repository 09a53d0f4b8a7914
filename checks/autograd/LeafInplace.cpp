#include "autograd/LeafInplace.h"
#include "ast/Expressions.h"
#include "queries/modes/InheritedMode.h"
#include "torch/Api.h"
#include "torch/Types.h"

using namespace clang;
using torchtidy::torch::TypeKind;
namespace op = torchtidy::torch::operation;

namespace torchtidy::model {

/// What an in-place operation writes: w of w.add_(1), of w -= x, of w[0] = x.
/// Null for other operations, and for those that do not throw.
static const Expr *writtenTensor(const Expr *Site) {
  const auto *Call = dyn_cast_or_null<CallExpr>(Site);
  if (!Call || Call->getNumArgs() + (ast::objectOf(Call) ? 1 : 0) == 0)
    return nullptr;
  const Expr *Object = ast::objectOf(Call);
  const Expr *First = Object ? Object : Call->getArg(0);
  if (const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
      Operator && Operator->getOperator() == OO_Equal)
    return First;
  const torch::Call Kind = torch::classify(Call);
  if (Kind.Kind != torch::Api::Operation || Kind.Op->Writes != op::Self)
    return nullptr;
  // They change what the tensor is, not what is in it, and do not throw.
  if (torch::isSet(*Kind.Op) || Kind.Op->has(op::DiscardsHistory))
    return nullptr;
  return First;
}

namespace {

class LeafWriteQuery {
public:
  LeafWriteQuery(const Execution &Entry, const WriteEvent &Write)
      : Entry(Entry), Write(Write) {}

  std::optional<LeafWrite> run() const {
    const bool IsLeaf = Write.Before.History == history::Leaf;
    if (Write.IsPointer || (!IsLeaf && !Write.Before.isViewOfLeaf()))
      return std::nullopt;
    LeafWrite Result;
    Result.Entry = &Entry;
    Result.Write = &Write;
    Result.Target = writtenTensor(Write.Site);
    if (!Result.Target || Write.GradMode == 0 ||
        (Write.GradMode & (mode::Off | mode::Inference)) || mayBeFrozen())
      return std::nullopt;
    if (Write.GradMode & mode::Inherited) {
      Result.Backward = backwardBeside(Entry, Write);
      if (!Result.Backward)
        return std::nullopt;
    }
    const torch::Operation *Op = torch::classify(cast<CallExpr>(Write.Site)).Op;
    Result.IsThroughView = !IsLeaf;
    Result.IsResize = Op && Op->has(op::Resizes);
    return Result;
  }

private:
  /// The leaf, or the module that it belongs to.
  PlaceSet owners() const {
    PlaceSet Result;
    for (const PlaceSet *Set :
         {&Write.Places, &Write.Before.Refs, &Write.Before.ViewOf})
      for (PlaceId P : *Set) {
        insert(Result, P);
        for (PlaceId Around = P; !Entry.places().isRoot(Around);
             Around = Entry.places().parent(Around))
          insert(Result, Entry.places().parent(Around));
      }
    return Result;
  }

  /// Parameters of a scripted module may need no gradient, and code elsewhere
  /// may have frozen what it was given.
  bool mayBeFrozen() const {
    const PlaceSet Owners = owners();
    if (llvm::any_of(Owners, [&](PlaceId P) {
          const QualType Type = Entry.places().typeOf(P);
          return !Type.isNull() &&
                 torch::kindOf(Type) == TypeKind::ScriptModule;
        }))
      return true;
    for (const EscapeEvent &Escape : Entry.events<EscapeEvent>()) {
      const bool IsGiven = llvm::any_of(Owners, [&](PlaceId P) {
        return llvm::is_contained(Escape.Places, P) ||
               llvm::is_contained(Escape.Given.Refs, P);
      });
      if (IsGiven &&
          flow::mayReach(
              Entry.points(), Escape.Point,
              [&](flow::Digraph::Node N) { return N == Write.Point; },
              [](flow::Digraph::Node) { return false; }))
        return true;
    }
    return false;
  }

  const Execution &Entry;
  const WriteEvent &Write;
};

} // namespace

std::vector<LeafWrite> leafWrites(Program &Program) {
  std::vector<LeafWrite> Result;
  for (const auto &Entry : Program.executions())
    for (const WriteEvent &Write : Entry->events<WriteEvent>())
      if (std::optional<LeafWrite> Found = LeafWriteQuery(*Entry, Write).run())
        Result.push_back(*Found);
  return Result;
}

} // namespace torchtidy::model
