#include "queries/graphs/InnerDerivatives.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "torch/Api.h"
#include "torch/Modules.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model {

/// Of the module that a call runs; null where that is not known.
static const CXXRecordDecl *classOf(const ForwardEvent &Forward) {
  const auto *Call = dyn_cast_or_null<CallExpr>(Forward.Site);
  const Expr *Object = Call ? ast::objectOf(Call) : nullptr;
  return Object ? torch::moduleClass(Object->getType()) : nullptr;
}

bool isUnseen(const ForwardEvent &Forward) {
  const CXXRecordDecl *Class = classOf(Forward);
  return Class && torch::kindOf(Class) == torch::TypeKind::ScriptModule;
}

bool runsElsewhere(const Execution &Entry, const ForwardEvent &Forward) {
  const CXXRecordDecl *Class = classOf(Forward);
  return Class && !torch::isLibTorch(Class) && !isUnseen(Forward) &&
         !Entry.graph().expansion(Forward.In, Forward.Site);
}

static bool requiresGradient(const CallExpr *Call) {
  if (torch::classify(Call).Kind != torch::Api::RequiresGrad)
    return false;
  const auto Arguments = ast::argumentsOf(Call);
  return Arguments.empty() ||
         ast::boolAt(Arguments.front(), /*Default=*/true).value_or(true);
}

static bool names(const ValueDecl *V) {
  return V->getIdentifier() && torch::namesDerivative(V->getName());
}

/// A name says so.
static bool namesDerivative(const Stmt *S) {
  if (const auto *Ref = dyn_cast<DeclRefExpr>(S))
    return isa<VarDecl>(Ref->getDecl()) && names(Ref->getDecl());
  if (const auto *Member = dyn_cast<MemberExpr>(S))
    return isa<FieldDecl>(Member->getMemberDecl()) &&
           names(Member->getMemberDecl());
  if (const auto *Key = dyn_cast<StringLiteral>(S))
    return Key->isOrdinary() && torch::namesDerivative(Key->getString());
  if (const auto *Declaration = dyn_cast<DeclStmt>(S))
    return llvm::any_of(Declaration->decls(), [](const Decl *D) {
      // auto [energy, forces] = ...
      if (const auto *Parts = dyn_cast<DecompositionDecl>(D))
        return llvm::any_of(Parts->bindings(), names);
      const auto *V = dyn_cast<VarDecl>(D);
      return V && names(V);
    });
  return false;
}

/// A TorchScript module may get what is told to require a gradient. Of other
/// modules that is what freezes a part of them, and gives it back.
static bool speaksForDerivative(const Stmt *S) {
  const auto *Call = dyn_cast<CallExpr>(S);
  return namesDerivative(S) || (Call && requiresGradient(Call));
}

bool mayDifferentiateInside(const Execution &Entry,
                            const ForwardEvent &Forward) {
  if (!isUnseen(Forward) && !runsElsewhere(Entry, Forward))
    return false;
  if (Forward.Input.needsGrad())
    return true;
  // The callers may have made the inputs, or read the results.
  for (const Frame *F = Forward.In; F; F = F->Caller)
    if (ast::anyStmt(F->Function->getBody(),
                     isUnseen(Forward) ? speaksForDerivative : namesDerivative,
                     ast::Lambdas::Enter))
      return true;
  return false;
}

} // namespace torchtidy::model
