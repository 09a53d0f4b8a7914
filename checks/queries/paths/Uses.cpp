#include "queries/paths/Uses.h"
#include "ast/Expressions.h"
#include "queries/devices/Transfers.h"
#include "torch/Members.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model {

const Stmt *taker(const flow::ControlFlow &Flow, const Expr *E) {
  const Stmt *S = Flow.parent(E);
  while (isa_and_nonnull<ParenExpr, MaterializeTemporaryExpr, ImplicitCastExpr,
                         CXXBindTemporaryExpr>(S))
    S = Flow.parent(S);
  return S;
}

static std::optional<Use> useOf(const flow::ControlFlow &Flow, const Expr *E) {
  if (const CXXMemberCallExpr *Member = calledOn(Flow, E))
    return Use{Member, E, true};
  const auto *Call = dyn_cast_or_null<CallExpr>(taker(Flow, E));
  if (!Call)
    return std::nullopt;
  const Expr *Object = ast::objectOf(Call);
  if (Object && ast::strip(Object) == E)
    return Use{Call, E, true};
  for (const Expr *Argument : ast::argumentsOf(Call))
    if (ast::strip(Argument) == E)
      return Use{Call, E, false};
  return std::nullopt;
}

static bool isInLambda(const flow::ControlFlow &Flow, const Stmt *S) {
  for (; S; S = Flow.parent(S))
    if (isa<LambdaExpr>(S))
      return true;
  return false;
}

std::optional<llvm::SmallVector<Use, 4>> usesOf(const flow::ControlFlow &Flow,
                                                const Expr *Made) {
  if (const std::optional<Use> Direct = useOf(Flow, Made))
    return llvm::SmallVector<Use, 4>{*Direct};
  const VarDecl *V = declaredWith(Flow, Made);
  if (!V)
    return std::nullopt;
  llvm::SmallVector<Use, 4> Result;
  for (const DeclRefExpr *Ref : mentionsOf(Flow, V)) {
    const std::optional<Use> Each = useOf(Flow, Ref);
    if (!Each || isInLambda(Flow, Ref))
      return std::nullopt;
    Result.push_back(*Each);
  }
  return Result;
}

bool asksForShape(const Use &U) {
  const FunctionDecl *Callee = U.Call->getDirectCallee();
  return U.IsObject && Callee && torch::isLibTorch(Callee) &&
         (torch::saysShape(Callee) || torch::saysElementType(Callee));
}

} // namespace torchtidy::model
