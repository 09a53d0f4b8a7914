#include "queries/memory/OwnerPaths.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "torch/Members.h"
#include "torch/SharedOwners.h"
#include "torch/Std.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model {

OwnerPaths::OwnerPaths(const FunctionDecl *F) {
  ast::forEachStmt(
      F->getBody(),
      [&](const Stmt *S) {
        const auto *Call = dyn_cast<CallExpr>(S);
        if (!Call)
          return;
        const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
        const Expr *Object = ast::objectOf(Call);
        const auto *Ref = dyn_cast_or_null<DeclRefExpr>(
            Object ? ast::strip(Object) : nullptr);
        if (Ref && ((Operator && Operator->getOperator() == OO_Equal) ||
                    torch::letsGo(Call->getDirectCallee())))
          Changed.insert(Ref->getDecl());
        if (torch::letsGo(Call->getDirectCallee()) && !Object)
          for (const Expr *Each : Call->arguments())
            if (const auto *Moved = dyn_cast<DeclRefExpr>(ast::strip(Each)))
              Changed.insert(Moved->getDecl());
      },
      ast::Lambdas::Enter);
}

std::optional<OwnerPath> OwnerPaths::find(const Expr *E) const {
  return find(E, 0);
}

std::optional<OwnerPath> OwnerPaths::find(const Expr *E, unsigned Depth) const {
  E = E && Depth < 8 ? ast::stripCopies(E) : nullptr;
  if (!E)
    return std::nullopt;
  if (isa<CXXThisExpr>(E))
    return OwnerPath();
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
    return ofVariable(dyn_cast<VarDecl>(Ref->getDecl()), Depth);
  if (const auto *Member = dyn_cast<MemberExpr>(E)) {
    const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
    auto Path = find(Member->getBase(), Depth + 1);
    // What is not owned lives elsewhere.
    if (!Field || !Path || !torch::owns(Field->getType()))
      return std::nullopt;
    Path->Members.push_back(Field);
    return Path;
  }
  const auto *Call = dyn_cast<CallExpr>(E);
  if (!Call)
    return std::nullopt;
  if (torch::isSharedFromThis(Call->getDirectCallee())) {
    const Expr *Object = ast::objectOf(Call);
    return Object ? find(Object, Depth + 1) : std::nullopt;
  }
  // ->, *
  const FunctionDecl *Callee = Call->getDirectCallee();
  const auto Operator = Callee ? Callee->getOverloadedOperator() : OO_None;
  return Operator == OO_Arrow || Operator == OO_Star
             ? find(ast::objectOf(Call), Depth + 1)
             : std::nullopt;
}

/// E names what is there already: a member, a variable, shared_from_this().
static bool isName(const Expr *E) {
  E = stripPointerCasts(E);
  const auto *Call = dyn_cast<CallExpr>(E);
  return isa<MemberExpr, DeclRefExpr>(E) ||
         (Call && torch::isSharedFromThis(Call->getDirectCallee()));
}

/// Another name of a path, or a variable that owns something.
std::optional<OwnerPath> OwnerPaths::ofVariable(const VarDecl *V,
                                                unsigned Depth) const {
  if (!V || V->hasGlobalStorage() || Changed.count(V))
    return std::nullopt;
  const QualType Type = V->getType().getNonReferenceType();
  if (!torch::owns(Type))
    return std::nullopt;
  if (const Expr *Init = V->getInit();
      Init &&
      (torch::sharesOwnership(Type) || torch::isTensor(Type) ||
       V->getType()->isReferenceType()) &&
      isName(Init))
    if (const auto Path = find(stripPointerCasts(Init), Depth + 1))
      return Path;
  OwnerPath Result;
  Result.Root = V;
  return Result;
}

const Expr *stripPointerCasts(const Expr *E) {
  E = E ? ast::stripCopies(E) : nullptr;
  const auto *Call = dyn_cast_or_null<CallExpr>(E);
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  if (Callee && torch::isStd(Callee) && Call->getNumArgs() == 1 &&
      !ast::objectOf(Call) && torch::meaning(Callee) == torch::StdMeaning::Same)
    return stripPointerCasts(Call->getArg(0));
  return E;
}

bool isSharedPointer(const Expr *Pointer) {
  return torch::sharesOwnership(Pointer->getType().getNonReferenceType());
}

} // namespace torchtidy::model
