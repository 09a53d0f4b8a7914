#include "ast/Calls.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "clang/AST/Stmt.h"

using namespace clang;

namespace torchtidy::ast {

const ParmVarDecl *parameterFor(const CallExpr *Call,
                                const FunctionDecl *Definition,
                                llvm::function_ref<bool(const Expr *)> Is) {
  const auto Arguments = argumentsOf(Call);
  for (unsigned I = 0; I < Arguments.size() && I < Definition->getNumParams();
       ++I)
    if (Is(Arguments[I]))
      return Definition->getParamDecl(I);
  return nullptr;
}

bool allReturns(const FunctionDecl *F,
                llvm::function_ref<bool(const Expr *)> Is) {
  bool HasReturn = false, All = true;
  forEachStmt(
      F->getBody(),
      [&](const Stmt *S) {
        const auto *Return = dyn_cast<ReturnStmt>(S);
        if (!Return)
          return;
        HasReturn = true;
        All = All && Is(Return->getRetValue());
      },
      Lambdas::Skip);
  return HasReturn && All;
}

} // namespace torchtidy::ast
