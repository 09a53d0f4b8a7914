#include "model/syntax/Reads.h"
#include "ast/Walk.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace torchtidy::model {

/// std::optional makes a value of its own of what it is given by reference.
static const Expr *copiedByOptional(const Stmt *S) {
  const auto *Construct = dyn_cast<CXXConstructExpr>(S);
  return Construct && Construct->getNumArgs() == 1 &&
                 torch::isOptional(Construct->getType())
             ? Construct->getArg(0)->IgnoreParens()
             : nullptr;
}

/// Operands of what Clang does not understand (an unknown type, a template that
/// nobody instantiates) are written without the cast that says that they are
/// read: an index, an argument. That of what assigns is none.
static llvm::SmallVector<const Expr *, 4> readUnresolved(const Stmt *S) {
  const auto *E = dyn_cast<Expr>(S);
  if (!E || !E->isTypeDependent())
    return {};
  if (isa<RecoveryExpr>(E)) {
    llvm::SmallVector<const Expr *, 4> Parts;
    for (const Stmt *Child : E->children())
      if (const auto *Part = dyn_cast_or_null<Expr>(Child))
        Parts.push_back(Part);
    return Parts;
  }
  if (const auto *Element = dyn_cast<ArraySubscriptExpr>(E))
    return {Element->getIdx()};
  if (const auto *Call = dyn_cast<CallExpr>(E))
    return llvm::SmallVector<const Expr *, 4>(Call->arguments());
  if (const auto *Binary = dyn_cast<BinaryOperator>(E))
    return Binary->isAssignmentOp()
               ? llvm::SmallVector<const Expr *, 4>{Binary->getRHS()}
               : llvm::SmallVector<const Expr *, 4>{Binary->getLHS(),
                                                    Binary->getRHS()};
  return {};
}

bool onlyReads(const VarDecl *V, const Stmt *S) {
  unsigned Mentions = 0, Reads = 0;
  const auto Names = [&](const Stmt *Part) {
    const auto *Ref = dyn_cast<DeclRefExpr>(Part);
    return Ref && Ref->getDecl() == V;
  };
  ast::forEachStmt(
      S,
      [&](const Stmt *Part) {
        Mentions += Names(Part);
        const auto *Cast = dyn_cast<ImplicitCastExpr>(Part);
        Reads += Cast && Cast->getCastKind() == CK_LValueToRValue &&
                 Names(Cast->getSubExpr()->IgnoreParens());
        for (const Expr *Operand : readUnresolved(Part))
          Reads += Names(Operand->IgnoreParens());
        const Expr *Copied = copiedByOptional(Part);
        Reads += Copied && Names(Copied);
        // What the lambda does with what it captures is met in its body.
        if (const auto *Lambda = dyn_cast<LambdaExpr>(Part))
          Reads += llvm::count_if(Lambda->capture_inits(), [&](const Expr *E) {
            return E && Names(E->IgnoreParens());
          });
      },
      ast::Lambdas::Enter);
  return Mentions == Reads;
}

} // namespace torchtidy::model
