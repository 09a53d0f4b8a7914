#include "queries/devices/UnseenWaits.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "torch/Measurement.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "torch/Waiting.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;

namespace torchtidy::model {

bool UnseenWaits::mayWait(const Expr *Site) {
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(Site))
    return mayWaitIn(Construct->getConstructor());
  const auto *Call = cast<CallExpr>(Site);
  const FunctionDecl *Callee = Call->getDirectCallee();
  const Expr *Object = ast::objectOf(Call);
  const bool IsCallable =
      Object && torch::kindOf(Object->getType()) == torch::TypeKind::Callable;
  return !Callee || IsCallable || torch::waitOf(Call) != torch::Wait::None ||
         torch::asksWhetherDone(Callee) || torch::waitsForThread(Callee) ||
         mayWaitIn(Callee);
}

bool UnseenWaits::mayWaitIn(const FunctionDecl *Callee) {
  if (torch::isMeasurement(Callee))
    return torch::isSynchronisation(Callee);
  const FunctionDecl *Definition = Callee->getDefinition();
  if (Callee->isDefaulted() || Callee->isImplicit())
    return false;
  // Another file may override it.
  if (const auto *Method = dyn_cast<CXXMethodDecl>(Callee);
      Method && Method->isVirtual() && !torch::isLibTorch(Callee) &&
      !torch::isStd(Callee))
    return true;
  if (!Definition || !Definition->getBody())
    return !Callee->getBuiltinID() &&
           !Context.getSourceManager().isInSystemHeader(Callee->getLocation());
  const auto [It, IsNew] = Known.try_emplace(Definition, false);
  if (!IsNew)
    return It->second;
  const bool Result = ast::anyStmt(
      Definition->getBody(), [&](const Stmt *S) { return isDoubtful(S); },
      ast::Lambdas::Enter);
  return Known[Definition] = Result;
}

/// LibTorch's operations, wherever their tensors are, wait or do not.
bool UnseenWaits::isDoubtful(const Stmt *S) {
  const auto *Call = dyn_cast<CallExpr>(S);
  if (!Call)
    return false;
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (Callee && torch::isLibTorch(Callee))
    return torch::waitOf(Call) != torch::Wait::None;
  return mayWait(Call);
}

} // namespace torchtidy::model
