#include "queries/memory/OwnershipEnds.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "torch/Members.h"
#include "torch/SharedOwners.h"

using namespace clang;

namespace torchtidy::model {
namespace {

const FieldDecl *fieldOf(const Expr *E) {
  const auto *Member = dyn_cast_or_null<MemberExpr>(E ? ast::strip(E) : E);
  return Member ? dyn_cast<FieldDecl>(Member->getMemberDecl()) : nullptr;
}

} // namespace

OwnershipEnds::OwnershipEnds(const flow::UserFunctions &All) {
  for (const FunctionDecl *F : All.all())
    ast::forEachStmt(
        F->getBody(), [&](const Stmt *S) { look(F, S); }, ast::Lambdas::Enter);
}

llvm::ArrayRef<OwnershipEnds::Assignment>
OwnershipEnds::assignments(const FieldDecl *Member) const {
  const auto It = Assigned.find(Member);
  if (It == Assigned.end())
    return {};
  return It->second;
}

void OwnershipEnds::look(const FunctionDecl *F, const Stmt *S) {
  const auto *Call = dyn_cast<CallExpr>(S);
  if (!Call)
    return;
  const FunctionDecl *Callee = Call->getDirectCallee();
  RemovesHooks |= torch::removesHook(Callee);
  if (Callee)
    ++Calls[Callee->getCanonicalDecl()];
  if (torch::letsGo(Callee)) {
    letGo(ast::objectOf(Call));
    llvm::for_each(ast::argumentsOf(Call),
                   [&](const Expr *Each) { letGo(Each); });
  }
  const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
  if (Operator && Operator->getOperator() == OO_Equal &&
      !isa<CXXConstructorDecl>(F))
    if (const FieldDecl *Field = fieldOf(Operator->getArg(0)))
      Assigned[Field].push_back({F, Call});
}

void OwnershipEnds::letGo(const Expr *E) {
  if (const FieldDecl *Field = fieldOf(E))
    LetGo.insert(Field);
}

} // namespace torchtidy::model
