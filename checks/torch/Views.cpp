#include "torch/Views.h"
#include "ast/Expressions.h"
#include "ast/Names.h"
#include "torch/Api.h"
#include "torch/Elements.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace torchtidy::torch {

bool isAsStrided(const Operation &Op) { return Op.Name == "as_strided"; }

static StringRef className(const Expr *E) {
  const CXXRecordDecl *Record = recordOf(E->getType());
  return Record ? ast::nameOf(Record) : "";
}

/// None, nullopt, {}, or an argument that is not written.
static bool isOpen(const Expr *E) {
  if (isa<CXXDefaultArgExpr>(E))
    return true;
  E = ast::stripCopies(E);
  const auto *Made = dyn_cast<CXXConstructExpr>(E);
  return className(E) == "nullopt_t" || (Made && Made->getNumArgs() == 0) ||
         isa<InitListExpr, CXXScalarValueInitExpr>(E);
}

static const Expr *boundOf(const Expr *E) {
  return isOpen(E) ? nullptr : ast::stripCopies(E);
}

std::optional<Range> rangeOf(const CallExpr *Call) {
  const Operation *Op = classify(Call).Op;
  if (!Op || !choosesRange(*Op))
    return std::nullopt;
  // The dimension comes before; of a function the tensor as well.
  auto Arguments = ast::argumentsOf(Call);
  if (!ast::objectOf(Call) && !Arguments.empty())
    Arguments.erase(Arguments.begin());
  if (Arguments.size() < 3)
    return std::nullopt;
  Range Result;
  Result.IsLength = Op->Name == "narrow";
  Result.First = boundOf(Arguments[1]);
  Result.Second = boundOf(Arguments[2]);
  Result.HasStep =
      Arguments.size() > 3 && !isa<CXXDefaultArgExpr>(Arguments[3]);
  return Result;
}

std::optional<DimensionSize> sizeAt(const Expr *E) {
  const auto *Call = dyn_cast<CXXMemberCallExpr>(ast::stripCopies(E));
  const Expr *Object = Call ? Call->getImplicitObjectArgument() : nullptr;
  if (!Object || !Call->getMethodDecl() || Call->getNumArgs() != 1 ||
      !isTensor(Object->getType()) ||
      ast::nameOf(Call->getMethodDecl()) != "size")
    return std::nullopt;
  return DimensionSize{Object, Call->getArg(0)};
}

/// Slice(first, second, step).
static Range rangeOfSlice(const CXXConstructExpr *Slice) {
  Range Result;
  const auto Bound = [&](unsigned I) {
    return I < Slice->getNumArgs() ? boundOf(Slice->getArg(I)) : nullptr;
  };
  Result.First = Bound(0);
  Result.Second = Bound(1);
  Result.HasStep = Bound(2) != nullptr;
  return Result;
}

static std::optional<Index> indexOf(const Expr *E) {
  // The element is a TensorIndex that is made of what is written.
  const Expr *Inner = ast::strip(E);
  while (className(Inner) == "TensorIndex") {
    const Expr *From = ast::madeFrom(Inner);
    if (!From)
      return std::nullopt;
    Inner = From;
  }
  const StringRef Name = className(Inner);
  Index Result;
  if (Name == "nullopt_t") {
    Result.Is = Index::NewDimension;
    return Result;
  }
  if (Name == "EllipsisIndexType" ||
      isa<StringLiteral>(Inner->IgnoreParenImpCasts())) {
    Result.Is = Index::Rest;
    return Result;
  }
  if (Name == "Slice") {
    // A copy of a slice that is written there.
    while (const Expr *From = ast::madeFrom(Inner)) {
      if (className(From) != "Slice")
        break;
      Inner = From;
    }
    const auto *Made = dyn_cast<CXXConstructExpr>(Inner);
    if (!Made)
      return std::nullopt;
    Result.Is = Index::Several;
    Result.Of = rangeOfSlice(Made);
    return Result;
  }
  Inner = ast::stripCopies(Inner);
  if (!Inner->getType()->isIntegerType() || Inner->getType()->isBooleanType())
    return std::nullopt;
  Result.Is = Index::Position;
  Result.Number = Inner;
  return Result;
}

std::optional<llvm::SmallVector<Index, 4>> indicesOf(const CallExpr *Call) {
  const Operation *Op = classify(Call).Op;
  const auto Arguments = ast::argumentsOf(Call);
  if (!Op || !isIndexing(*Op) || Arguments.empty())
    return std::nullopt;
  const auto Listed = ast::listed(Arguments.back());
  if (!Listed)
    return std::nullopt;
  llvm::SmallVector<Index, 4> Result;
  for (const Expr *Each : *Listed) {
    const std::optional<Index> Known = indexOf(Each);
    if (!Known)
      return std::nullopt;
    Result.push_back(*Known);
  }
  return Result;
}

llvm::SmallVector<const Expr *, 2> tensorIndices(const CallExpr *Call) {
  const Operation *Op = classify(Call).Op;
  const auto Arguments = ast::argumentsOf(Call);
  llvm::SmallVector<const Expr *, 2> Result;
  if (!Op || !isIndexing(*Op) || Arguments.empty())
    return Result;
  const auto Listed = ast::listed(Arguments.back());
  if (!Listed)
    return Result;
  for (const Expr *Each : *Listed) {
    // A TensorIndex, or an optional, that is made of what is written.
    const Expr *Inner = ast::strip(Each);
    while (!isTensor(Inner->getType())) {
      const Expr *From = ast::madeFrom(Inner);
      if (!From)
        break;
      Inner = From;
    }
    if (isTensor(Inner->getType()))
      Result.push_back(ast::stripCopies(Inner));
  }
  return Result;
}

const Expr *savesStorageOf(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee || !isLibTorch(Callee) || Call->getNumArgs() == 0)
    return nullptr;
  const StringRef Name = ast::nameOf(Callee);
  if (const auto *Method = dyn_cast<CXXMethodDecl>(Callee)) {
    const bool Writes = Name == "write" && Call->getNumArgs() > 1 &&
                        ast::nameOf(Method->getParent()) == "OutputArchive";
    return Writes ? Call->getArg(1) : nullptr;
  }
  return Name == "save" || Name == "pickle_save" ? Call->getArg(0) : nullptr;
}

} // namespace torchtidy::torch
