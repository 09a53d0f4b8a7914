#include "queries/memory/KeptArguments.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "torch/SharedOwners.h"
#include "torch/Std.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model {

QualType KeptArgument::type() const {
  return IsElement ? torch::elementType(Member->getType()) : Member->getType();
}

/// The member of this object that E names.
static const FieldDecl *ownMember(const Expr *E) {
  const auto *Member = dyn_cast<MemberExpr>(ast::strip(E));
  return Member && isa<CXXThisExpr>(ast::strip(Member->getBase()))
             ? dyn_cast<FieldDecl>(Member->getMemberDecl())
             : nullptr;
}

/// E is the variable, or what is moved out of it.
static bool isVariable(const Expr *E, const ParmVarDecl *V) {
  E = ast::stripCopies(E);
  if (const auto *Move = dyn_cast<CallExpr>(E); Move && Move->isCallToStdMove())
    E = ast::stripCopies(Move->getArg(0));
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  return Ref && Ref->getDecl() == V;
}

std::optional<KeptArgument> keptArgument(const FunctionDecl *Method,
                                         const ParmVarDecl *Parameter) {
  std::optional<KeptArgument> Result;
  ast::forEachStmt(
      Method->getBody(),
      [&](const Stmt *S) {
        const auto *Operator = dyn_cast<CXXOperatorCallExpr>(S);
        const auto *Call = dyn_cast<CXXMemberCallExpr>(S);
        const bool IsElement = Call && Call->getNumArgs() > 0 &&
                               Call->getMethodDecl() &&
                               torch::keepsArgument(Call->getMethodDecl()) &&
                               torch::isStd(Call->getMethodDecl());
        const Expr *Into = nullptr, *Value = nullptr;
        if (Operator && Operator->getOperator() == OO_Equal &&
            Operator->getNumArgs() == 2) {
          Into = Operator->getArg(0);
          Value = Operator->getArg(1);
        } else if (IsElement) {
          Into = Call->getImplicitObjectArgument();
          Value = Call->getArg(Call->getNumArgs() - 1);
        }
        const FieldDecl *Member = Into ? ownMember(Into) : nullptr;
        if (Member && isVariable(Value, Parameter))
          Result = KeptArgument{Member, IsElement};
      },
      ast::Lambdas::Skip);
  return Result;
}

} // namespace torchtidy::model
