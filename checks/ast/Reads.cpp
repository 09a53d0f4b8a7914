#include "ast/Reads.h"
#include "ast/Walk.h"
#include "clang/AST/Expr.h"

using namespace clang;

namespace torchtidy::ast {

bool onlyReads(const VarDecl *V, const Stmt *S) {
  unsigned Mentions = 0, Reads = 0;
  const auto Names = [&](const Stmt *Part) {
    const auto *Ref = dyn_cast<DeclRefExpr>(Part);
    return Ref && Ref->getDecl() == V;
  };
  forEachStmt(
      S,
      [&](const Stmt *Part) {
        Mentions += Names(Part);
        const auto *Cast = dyn_cast<ImplicitCastExpr>(Part);
        Reads += Cast && Cast->getCastKind() == CK_LValueToRValue &&
                 Names(Cast->getSubExpr()->IgnoreParens());
      },
      Lambdas::Enter);
  return Mentions == Reads;
}

} // namespace torchtidy::ast
