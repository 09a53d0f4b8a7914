#include "queries/devices/SettledVariables.h"
#include "ast/Walk.h"
#include "queries/paths/Uses.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace torchtidy::model {

bool mayChangeHere(const flow::ControlFlow &Flow, const Expr *E) {
  if (E->getType().isConstQualified())
    return false;
  const Stmt *Parent = Flow.parent(E);
  if (const auto *Cast = dyn_cast_or_null<ImplicitCastExpr>(Parent))
    return !Cast->getType().isConstQualified() &&
           Cast->getCastKind() != CK_LValueToRValue;
  // TensorOptions(Device &&): what is made of it copies it.
  if (isa_and_nonnull<CXXConstructExpr>(Parent))
    return false;
  const auto *Member = dyn_cast_or_null<MemberExpr>(Parent);
  const auto *Method =
      Member ? dyn_cast<CXXMethodDecl>(Member->getMemberDecl()) : nullptr;
  return !Method || !Method->isConst();
}

static bool isInLoop(const flow::ControlFlow &Flow, const Stmt *S) {
  for (; S; S = Flow.parent(S))
    if (isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(S))
      return true;
  return false;
}

static bool isSettledIn(const flow::ControlFlow &Flow, const VarDecl *V) {
  bool IsRead = false;
  for (const DeclRefExpr *Ref : mentionsOf(Flow, V)) {
    if (!mayChangeHere(Flow, Ref))
      IsRead = true;
    else if (IsRead || isInLoop(Flow, Ref))
      return false;
  }
  return true;
}

static bool mayChangeMember(const flow::ControlFlow &Flow,
                            const ValueDecl *Member) {
  return ast::anyStmt(
      Flow.function()->getBody(),
      [&](const Stmt *S) {
        const auto *E = dyn_cast<MemberExpr>(S);
        return E && E->getMemberDecl() == Member && mayChangeHere(Flow, E);
      },
      ast::Lambdas::Enter);
}

/// No code of the file changes V. What another file may do to a variable that
/// it can see comes before: a device is chosen once.
static bool isNeverChanged(const Execution &Entry, const VarDecl *V) {
  const auto Mentions = [V](const Stmt *S) {
    const auto *Ref = dyn_cast<DeclRefExpr>(S);
    return Ref && Ref->getDecl() == V;
  };
  return llvm::all_of(
      Entry.code().functions().all(), [&](const FunctionDecl *F) {
        if (!ast::anyStmt(F->getBody(), Mentions, ast::Lambdas::Enter))
          return true;
        const flow::ControlFlow *Flow = Entry.code().controlFlow(F);
        return Flow &&
               llvm::none_of(mentionsOf(*Flow, V), [&](const DeclRefExpr *Ref) {
                 return mayChangeHere(*Flow, Ref);
               });
      });
}

bool isSettled(const Execution &Entry, PlaceId P, const Frame *In) {
  const PlaceTable &Places = Entry.places();
  const VarDecl *V = Places.isRoot(P) ? Places.variable(P) : nullptr;
  const ValueDecl *Member =
      !Places.isRoot(P) && Places.step(P).Of == Step::Field
          ? Places.step(P).Member
          : nullptr;
  if (const ValueDecl *D = V ? V : Member;
      !D || D->getType().getNonReferenceType().isConstQualified())
    return D;
  if (V && V->hasGlobalStorage())
    return isNeverChanged(Entry, V);
  for (const Frame *F = In; F; F = F->Caller) {
    if (!F->Flow || (Member && mayChangeMember(*F->Flow, Member)))
      return false;
    if (V && V->hasLocalStorage() && F->Function == V->getDeclContext())
      return isSettledIn(*F->Flow, V);
  }
  return Member;
}

} // namespace torchtidy::model
