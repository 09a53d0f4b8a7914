#include "queries/modes/UnseenCalls.h"
#include "ast/Expressions.h"
#include "queries/modes/Deciders.h"
#include "torch/Types.h"
#include "clang/AST/DeclCXX.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;

namespace torchtidy::model {

/// Of a function that is told so: a flag, or something of LibTorch. Who is
/// given a tensor computes with it.
static bool saysMode(const Expr *Given) {
  const QualType Type = Given->getType().getNonReferenceType();
  return Type->isBooleanType() || torch::isModule(Type) ||
         (torch::mayHoldTensor(Type) && !torch::isTensor(Type));
}

/// A function of the program whose code is not here, or is and knows LibTorch.
static bool isUnseen(const Execution &Entry, const FunctionDecl *F) {
  const SourceManager &SM = Entry.code().context().getSourceManager();
  return !SM.isInSystemHeader(F->getLocation()) &&
         (!F->hasBody() || Entry.code().mentionsTorch(F));
}

static bool beginsGuard(const Execution &Entry,
                        const CXXConstructorDecl *Made) {
  const CXXDestructorDecl *End = Made->getParent()->getDestructor();
  return Made->isUserProvided() && isUnseen(Entry, Made) && End &&
         End->isUserProvided() && isUnseen(Entry, End);
}

bool maySwitchMode(const Execution &Entry, const OpaqueEvent &E) {
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E.Site))
    return beginsGuard(Entry, Construct->getConstructor());
  const auto *Call = dyn_cast<CallExpr>(E.Site);
  if (!Call)
    return false;
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee)
    return true;
  if (!isUnseen(Entry, Callee))
    return false;
  const Expr *Object = ast::objectOf(Call);
  // What nobody has written comes last.
  const auto Written =
      llvm::make_range(Call->arg_begin(),
                       llvm::find_if(Call->arguments(), [](const Expr *Given) {
                         return isa<CXXDefaultArgExpr>(Given);
                       }));
  return (Object && saysMode(Object)) || llvm::any_of(Written, saysMode) ||
         (!Object && Written.empty() && Callee->getReturnType()->isVoidType());
}

bool mayBeModeGuard(const OpaqueEvent &E) {
  const auto *Construct = dyn_cast<CXXConstructExpr>(E.Site);
  if (!Construct)
    return false;
  const CXXConstructorDecl *Maker = Construct->getConstructor();
  const CXXDestructorDecl *End = Maker->getParent()->getDestructor();
  return (Maker->isUserProvided() && !Maker->hasBody()) ||
         (End && End->isUserProvided() && !End->hasBody());
}

bool endsBetween(const OpaqueEvent &Guard, const Event &A, const Event &B) {
  const flow::ControlFlow *Flow = Guard.In->Flow;
  const Stmt *Scope = Flow ? Flow->parent(Guard.Site) : nullptr;
  while (Scope && !isa<CompoundStmt>(Scope))
    Scope = Flow->parent(Scope);
  if (!Scope)
    return false;
  const auto IsIn = [&](const Event &E) {
    const Stmt *There = statementIn(Guard.In, E);
    return There && Flow->isInside(There, Scope);
  };
  return IsIn(A) && !IsIn(B);
}

const CXXDestructorDecl *undoingDestructor(const Frame *F) {
  for (; F; F = F->Caller)
    if (const auto *Maker = dyn_cast<CXXConstructorDecl>(F->Function))
      if (const CXXDestructorDecl *End = Maker->getParent()->getDestructor();
          End && End->isUserProvided())
        return End;
  return nullptr;
}

const Stmt *scopeOfVariable(const Frame *Around, const Expr *Made) {
  if (!Around || !Around->Flow || !isa_and_nonnull<CXXConstructExpr>(Made))
    return nullptr;
  const Stmt *S = Made;
  while (isa_and_nonnull<Expr>(S))
    S = Around->Flow->parent(S);
  const auto *Declaration = dyn_cast_or_null<DeclStmt>(S);
  const auto *V = Declaration && Declaration->isSingleDecl()
                      ? dyn_cast<VarDecl>(Declaration->getSingleDecl())
                      : nullptr;
  return V && V->hasLocalStorage() && V->getInit() &&
                 ast::strip(V->getInit()) == Made
             ? Around->Flow->parent(Declaration)
             : nullptr;
}

} // namespace torchtidy::model
