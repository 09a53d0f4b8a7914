#include "model/syntax/AssignedBack.h"
#include "ast/Expressions.h"
#include "ast/Locations.h"
#include "ast/Walk.h"
#include "model/syntax/Variables.h"
#include "torch/Api.h"
#include "torch/Members.h"
#include "torch/Types.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;
using torchtidy::torch::Operation;
using torchtidy::torch::Tri;
namespace op = torchtidy::torch::operation;

namespace torchtidy::model {

/// The result stands for the tensor that it is made of: moved, converted, in
/// another shape; or there is a variant that works in place, which may be
/// meant.
static bool replaces(const CallExpr *Call) {
  const Operation *Op = torch::classify(Call).Op;
  if (!Op || Op->has(op::ChangesDevice) || Op->has(op::ChangesDtype) ||
      Op->has(op::DiscardsHistory) || Op->View != Tri::No)
    return true;
  if (isa<CXXOperatorCallExpr>(Call) ||
      (!ast::objectOf(Call) &&
       llvm::count_if(Call->arguments(), [](const Expr *Argument) {
         return torch::mayHoldTensor(Argument->getType());
       }) > 1))
    return false;
  const Operation *InPlace = torch::inPlaceOf(*Op);
  return InPlace && InPlace->Writes == op::Self;
}

/// What a call of LibTorch is made on, or its first argument.
static const Expr *firstOf(const CallExpr *Call) {
  if (const Expr *Object = ast::objectOf(Call))
    return Object;
  return Call->getNumArgs() > 0 ? Call->getArg(0) : nullptr;
}

bool canBeAssigned(const flow::ControlFlow &Flow, const CallExpr *Call,
                   const Expr *Subject) {
  const Expr *E = ast::strip(Subject);
  const ASTContext &Context = Flow.function()->getASTContext();
  if (!replaces(Call) || !isa<DeclRefExpr, MemberExpr>(E) ||
      !Context.hasSameUnqualifiedType(E->getType(), Call->getType()) ||
      E->getType().isConstQualified() || ast::beginLoc(Call).isMacroID())
    return false;
  // x is what the call is made on, or its only tensor.
  const Expr *First = Call;
  while (const auto *Inner = dyn_cast<CallExpr>(ast::stripCopies(First)))
    First = firstOf(Inner);
  if (ast::stripCopies(First) != E)
    return false;
  // The module does not know another tensor in the place of a registered one;
  // a copy of an element that a loop goes through is not the element.
  const auto *Member = dyn_cast<MemberExpr>(E);
  if (Member && torch::isModule(Member->getBase()->getType()))
    return false;
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  return !Ref || !rangeLoopOf(Flow, Ref->getDecl()) ||
         isReference(Ref->getDecl());
}

bool reshapes(const CallExpr *Call) {
  while (Call) {
    const Operation *Op = torch::classify(Call).Op;
    if (Op && torch::changesShape(*Op))
      return true;
    const Expr *Of = Op ? firstOf(Call) : nullptr;
    Call = Of ? dyn_cast<CallExpr>(ast::stripCopies(Of)) : nullptr;
  }
  return false;
}

bool isAskedForShape(const flow::ControlFlow &Flow, const CallExpr *Call,
                     const Expr *Subject) {
  const std::optional<Named> Of = namedVariable(Subject);
  const auto AsksFor = [&](const Stmt *S) {
    const auto *Asks = dyn_cast<CallExpr>(S);
    const FunctionDecl *Callee = Asks ? Asks->getDirectCallee() : nullptr;
    const Expr *Object = Asks ? ast::objectOf(Asks) : nullptr;
    if (!Callee || !Object || !torch::saysProperty(Callee))
      return false;
    const std::optional<Named> Asked = namedVariable(Object);
    return Asked && Asked->Variable == Of->Variable &&
           Asked->Member == Of->Member;
  };
  for (const Stmt *S = Of ? Flow.parent(Call) : nullptr; S; S = Flow.parent(S))
    if (const auto *If = dyn_cast<IfStmt>(S))
      if (ast::anyStmt(If->getCond(), AsksFor, ast::Lambdas::Skip))
        return true;
  return false;
}

} // namespace torchtidy::model
