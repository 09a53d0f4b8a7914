#include "queries/memory/CopiedBytes.h"
#include "ast/Expressions.h"
#include "torch/Members.h"
#include "torch/RawMemory.h"
#include "torch/Scalars.h"
#include "torch/Shapes.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace torchtidy::model {

namespace {

/// The factors of a number of bytes: t.numel(), sizeof(float).
class Factors {
public:
  explicit Factors(const VarDecl *Tensor) : Tensor(Tensor) {}

  /// They are the elements of the tensor, and one size of a type.
  bool areElements() const { return Size && Counts == 1 && !HasOther; }
  const UnaryExprOrTypeTraitExpr *size() const { return Size; }

  void add(const Expr *E, unsigned Depth = 0) {
    E = ast::strip(E);
    const auto *Product = dyn_cast<BinaryOperator>(E);
    if (Product && Product->getOpcode() == BO_Mul && Depth < 8) {
      add(Product->getLHS(), Depth + 1);
      add(Product->getRHS(), Depth + 1);
    } else if (const auto *Of = dyn_cast<UnaryExprOrTypeTraitExpr>(E);
               Of && Of->getKind() == UETT_SizeOf && Of->isArgumentType() &&
               !Of->isValueDependent() && !Size) {
      Size = Of;
    } else if (const VarDecl *Constant = constantOf(E); Constant && Depth < 8) {
      add(Constant->getInit(), Depth + 1);
    } else if (isElementsOfTensor(E)) {
      ++Counts;
    } else {
      HasOther = true;
    }
  }

private:
  static const VarDecl *constantOf(const Expr *E) {
    const auto *Ref = dyn_cast<DeclRefExpr>(E);
    const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    return V && V->isLocalVarDecl() && V->getType().isConstQualified() &&
                   V->getInit()
               ? V
               : nullptr;
  }

  bool isElementsOfTensor(const Expr *E) const {
    const auto *Call = dyn_cast<CXXMemberCallExpr>(E);
    const Expr *Object = Call ? Call->getImplicitObjectArgument() : nullptr;
    const auto *Ref =
        dyn_cast_or_null<DeclRefExpr>(Object ? ast::strip(Object) : nullptr);
    return Ref && Ref->getDecl() == Tensor &&
           torch::countsElements(Call->getMethodDecl());
  }

  const VarDecl *Tensor;
  const UnaryExprOrTypeTraitExpr *Size = nullptr;
  unsigned Counts = 0;
  bool HasOther = false;
};

} // namespace

/// The call that E, a pointer, is an argument of, through casts.
static const CallExpr *userOf(const flow::ControlFlow &Flow, const Expr *E) {
  const Stmt *S = Flow.parent(E);
  while (isa_and_nonnull<CastExpr, ParenExpr, FullExpr>(S))
    S = Flow.parent(S);
  return dyn_cast_or_null<CallExpr>(S);
}

/// Every argument that is a number of things: of fwrite() a size and how many.
static Factors countedIn(const CallExpr *Copy, const VarDecl *Tensor) {
  Factors Result(Tensor);
  for (const Expr *Each : ast::argumentsOf(Copy))
    if (Each->getType()->isIntegerType() && !Each->getType()->isEnumeralType())
      Result.add(Each);
  return Result;
}

static std::optional<CopiedBytes> judge(const Execution &Entry,
                                        const WriteEvent &Write) {
  const auto *Call = dyn_cast_or_null<CXXMemberCallExpr>(Write.Site);
  const std::optional<StringRef> Scalar = Write.Before.Scalar.get();
  if (!Write.IsPointer || !Call || !Scalar || !Write.In->Flow ||
      !torch::isDataPointer(Call->getMethodDecl()))
    return std::nullopt;
  const auto *Ref =
      dyn_cast<DeclRefExpr>(ast::strip(Call->getImplicitObjectArgument()));
  const auto *Tensor = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  const CallExpr *Copy = userOf(*Write.In->Flow, Call);
  if (!Tensor || !Copy || !torch::copiesBytes(Copy->getDirectCallee()))
    return std::nullopt;
  const Factors Counted = countedIn(Copy, Tensor);
  if (!Counted.areElements())
    return std::nullopt;
  const QualType Type = Counted.size()->getArgumentType();
  CopiedBytes Result{&Entry, &Write, Tensor, Counted.size(), *Scalar};
  Result.Element = torch::scalarSize(*Scalar);
  Result.Said =
      uint64_t(Tensor->getASTContext().getTypeSizeInChars(Type).getQuantity());
  return Result.Element && Result.Element != Result.Said ? std::optional(Result)
                                                         : std::nullopt;
}

std::vector<CopiedBytes> miscountedBytes(Program &Program) {
  std::vector<CopiedBytes> Result;
  for (const auto &Entry : Program.executions())
    if (!Entry->events<DefaultDTypeEvent>().empty())
      return Result;
  for (const auto &Entry : Program.executions())
    for (const WriteEvent &Write : Entry->events<WriteEvent>())
      if (const auto Found = judge(*Entry, Write))
        Result.push_back(*Found);
  return Result;
}

} // namespace torchtidy::model
