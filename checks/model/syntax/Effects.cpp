#include "model/syntax/Effects.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "model/syntax/Variables.h"
#include "torch/Measurement.h"
#include "torch/Options.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;
using torchtidy::torch::Api;
using torchtidy::torch::Operation;
namespace op = torchtidy::torch::operation;

namespace torchtidy::model {

/// torch::nn::functional::relu(x, options.inplace(true)): an option says
/// whether it writes.
static bool hasInplaceOption(const CallExpr *Call) {
  return llvm::any_of(Call->arguments(), [](const Expr *Argument) {
    return !isa<CXXDefaultArgExpr>(Argument) &&
           !torch::isTensor(Argument->getType()) &&
           torch::hasInplace(torch::recordOf(Argument->getType()));
  });
}

bool Effects::isPure(const CallExpr *Call, const Operation *Op) {
  return Op && Op->Writes == op::NoArgument && Op->Returns != op::Nothing &&
         !Op->has(op::Random) && !Op->has(op::Factory) &&
         !hasInplaceOption(Call);
}

bool Effects::onlyReturns(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee || torch::classify(Call).Kind != Api::Foreign ||
      Callee->getReturnType()->isReferenceType() ||
      Callee->getReturnType()->isPointerType())
    return false;
  if (const auto *Method = dyn_cast<CXXMethodDecl>(Callee);
      Method && Method->isVirtual())
    return false;
  const FunctionDecl *Definition = User.functions().definition(Callee);
  return Definition && onlyReturns(Definition);
}

bool Effects::onlyReturns(const FunctionDecl *F) {
  auto [It, Inserted] = Returning.try_emplace(F, false);
  if (!Inserted)
    return It->second;
  const bool Result = !ast::anyStmt(
      F->getBody(), [&](const Stmt *S) { return isHarmful(S, F); },
      ast::Lambdas::Skip);
  Returning[F] = Result;
  return Result;
}

/// What is written belongs to the function: a local variable or a part of it.
static bool isLocal(const Expr *E, const FunctionDecl *In) {
  const std::optional<Named> To = namedVariable(E);
  return To && !To->ThroughPointer && isOwn(To->Variable, In);
}

bool Effects::isHarmlessCall(const CallExpr *Call, const FunctionDecl *In) {
  const Expr *Object = ast::objectOf(Call);
  const FunctionDecl *Callee = Call->getDirectCallee();
  const torch::Call Kind = torch::classify(Call);
  switch (Kind.Kind) {
  case Api::Operation:
    return isPure(Call, Kind.Op) || Kind.Op->has(op::Factory);
  case Api::Foreign:
    return onlyReturns(Call);
  case Api::Std:
  case Api::Library:
  case Api::NoEffect: {
    // x = y of a local variable; outputs.push_back(y).
    const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Callee);
    if (Object && Method)
      return Method->isConst() ? !torch::isModule(Object->getType())
                               : isLocal(Object, In);
    // A free function that gets nothing to write to: std::move, std::get,
    // torch::cuda::is_available.
    if (torch::isStd(Callee))
      return torch::onlyComputes(Callee);
    return !Callee->getReturnType()->isVoidType() &&
           llvm::none_of(Call->arguments(), [](const Expr *Argument) {
             return torch::mayHoldTensor(Argument->getType());
           });
  }
  default:
    return false;
  }
}

bool Effects::isHarmful(const Stmt *S, const FunctionDecl *In) {
  if (const auto *Call = dyn_cast<CallExpr>(S)) {
    // It is there to throw.
    if (Call->getType()->isVoidType() && !ast::objectOf(Call))
      return true;
    return !isHarmlessCall(Call, In);
  }
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(S)) {
    const CXXConstructorDecl *Constructor = Construct->getConstructor();
    return !torch::isStd(Constructor) && !torch::isLibTorch(Constructor) &&
           Constructor->isUserProvided();
  }
  if (const auto *Binary = dyn_cast<BinaryOperator>(S))
    return Binary->isAssignmentOp() && !isLocal(Binary->getLHS(), In);
  if (const auto *Unary = dyn_cast<UnaryOperator>(S))
    return Unary->isIncrementDecrementOp() && !isLocal(Unary->getSubExpr(), In);
  if (const auto *Declaration = dyn_cast<DeclStmt>(S))
    return llvm::any_of(Declaration->decls(), [](const Decl *D) {
      const auto *V = dyn_cast<VarDecl>(D);
      return V && V->isStaticLocal();
    });
  return isa<LambdaExpr, CXXThrowExpr, CXXNewExpr, CXXDeleteExpr, CXXTryStmt,
             AsmStmt, UnresolvedLookupExpr, CXXDependentScopeMemberExpr,
             RecoveryExpr>(S);
}

bool Effects::containsMeasurement(const Stmt *S) {
  return ast::anyStmt(
      S, [&](const Stmt *Part) { return measures(Part); }, ast::Lambdas::Enter);
}

bool Effects::measures(const Stmt *S) {
  const FunctionDecl *Callee = nullptr;
  if (const auto *Call = dyn_cast<CallExpr>(S))
    Callee = Call->getDirectCallee();
  else if (const auto *Construct = dyn_cast<CXXConstructExpr>(S))
    Callee = Construct->getConstructor();
  if (!Callee)
    return false;
  if (torch::isMeasurement(Callee))
    return true;
  const FunctionDecl *Definition = User.functions().definition(Callee);
  // Training that prints how long it took is no stop watch.
  if (!Definition || User.mentionsTorch(Definition))
    return false;
  auto [It, Inserted] = Measuring.try_emplace(Definition, false);
  if (!Inserted)
    return It->second;
  bool Result = containsMeasurement(Definition->getBody());
  if (const auto *Constructor = dyn_cast<CXXConstructorDecl>(Definition))
    for (const CXXCtorInitializer *Init : Constructor->inits())
      Result |= containsMeasurement(Init->getInit());
  Measuring[Definition] = Result;
  return Result;
}

} // namespace torchtidy::model
