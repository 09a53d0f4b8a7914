#include "queries/InnerDerivatives.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "model/machine/Machine.h"
#include "torch/Api.h"
#include "torch/Modules.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model {

bool isUnseen(const ForwardEvent &Forward) {
  const auto *Call = dyn_cast_or_null<CallExpr>(Forward.Site);
  const Expr *Object = Call ? ast::objectOf(Call) : nullptr;
  const CXXRecordDecl *Class =
      Object ? torch::moduleClass(Object->getType()) : nullptr;
  return Class && torch::kindOf(Class) == torch::TypeKind::ScriptModule;
}

static bool requiresGradient(const CallExpr *Call) {
  if (torch::classify(Call).Kind != torch::Api::RequiresGrad)
    return false;
  const auto Arguments = ast::argumentsOf(Call);
  return Arguments.empty() ||
         boolAt(Arguments.front(), /*Default=*/true).value_or(true);
}

static bool speaksForDerivative(const Stmt *S) {
  if (const auto *Ref = dyn_cast<DeclRefExpr>(S))
    return isa<VarDecl>(Ref->getDecl()) && Ref->getDecl()->getIdentifier() &&
           torch::namesDerivative(Ref->getDecl()->getName());
  if (const auto *Member = dyn_cast<MemberExpr>(S))
    return isa<FieldDecl>(Member->getMemberDecl()) &&
           Member->getMemberDecl()->getIdentifier() &&
           torch::namesDerivative(Member->getMemberDecl()->getName());
  if (const auto *Key = dyn_cast<StringLiteral>(S))
    return Key->isOrdinary() && torch::namesDerivative(Key->getString());
  if (const auto *Declaration = dyn_cast<DeclStmt>(S))
    return llvm::any_of(Declaration->decls(), [](const Decl *D) {
      const auto *V = dyn_cast<VarDecl>(D);
      return V && V->getIdentifier() && torch::namesDerivative(V->getName());
    });
  const auto *Call = dyn_cast<CallExpr>(S);
  return Call && requiresGradient(Call);
}

bool mayDifferentiateInside(const ForwardEvent &Forward) {
  if (!isUnseen(Forward))
    return false;
  if (Forward.Input.needsGrad())
    return true;
  // The callers may have made the inputs, or read the results.
  for (const Frame *F = Forward.In; F; F = F->Caller)
    if (ast::anyStmt(F->Function->getBody(), speaksForDerivative,
                     ast::Lambdas::Enter))
      return true;
  return false;
}

} // namespace torchtidy::model
