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
