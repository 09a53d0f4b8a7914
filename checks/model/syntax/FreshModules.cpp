#include "model/syntax/FreshModules.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "torch/Api.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;
using torchtidy::torch::Api;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

static bool isMove(const FunctionDecl *F) {
  return F && torch::isStd(F) && torch::meaning(F) == torch::StdMeaning::Move;
}

static const Expr *stripMoves(const Expr *E) {
  E = ast::strip(E);
  while (E) {
    const Expr *Inner = E;
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(E);
        Construct && Construct->getNumArgs() == 1 &&
        Construct->getConstructor()->isCopyOrMoveConstructor())
      Inner = ast::strip(Construct->getArg(0));
    else if (const auto *Call = dyn_cast<CallExpr>(E);
             Call && isMove(Call->getDirectCallee()) && Call->getNumArgs() == 1)
      Inner = ast::strip(Call->getArg(0));
    if (Inner == E)
      break;
    E = Inner;
  }
  return E;
}

bool mayRegister(const Stmt *S) {
  return ast::anyStmt(
      S,
      [](const Stmt *Part) {
        const auto *Call = dyn_cast<CallExpr>(Part);
        const Api Kind = Call ? torch::classify(Call).Kind : Api::Std;
        return torch::isRegistration(Kind) || Kind == Api::Foreign;
      },
      ast::Lambdas::Enter);
}

bool isEmptyHandle(const Expr *E) {
  E = ast::stripCopies(E);
  if (!E || isa<CXXNullPtrLiteralExpr, GNUNullExpr>(E))
    return true;
  if (const auto *List = dyn_cast<InitListExpr>(E))
    return List->getNumInits() == 0;
  const auto *Construct = dyn_cast<CXXConstructExpr>(E);
  return Construct && Construct->getNumArgs() == 0 &&
         torch::kindOf(Construct->getType()) != TypeKind::ModuleHolder;
}

bool isFreshModule(const Expr *E) {
  E = stripMoves(E);
  if (const auto *Call = dyn_cast_or_null<CallExpr>(E)) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    return Callee && torch::isStd(Callee) && torch::makesObject(Callee);
  }
  const auto *Construct = dyn_cast_or_null<CXXConstructExpr>(E);
  if (!Construct ||
      torch::kindOf(Construct->getType()) != TypeKind::ModuleHolder)
    return false;
  return llvm::all_of(Construct->arguments(), [](const Expr *Argument) {
    return !torch::moduleClass(Argument->getType()) || isFreshModule(Argument);
  });
}

ModuleContent contentOf(const CXXRecordDecl *Class) {
  ModuleContent Result;
  Result.HoldsParameters =
      torch::parametersOf(Class) == torch::Parameters::Some;
  Result.DependsOnMode =
      torch::modeDependence(Class) == torch::Parameters::Some;
  return Result;
}

ModuleContent contentOf(const Expr *Member) {
  ModuleContent Found;
  llvm::SmallVector<const Expr *, 4> Work = {Member};
  while (!Work.empty()) {
    const Expr *E = stripMoves(Work.pop_back_val());
    if (!E)
      continue;
    if (const CXXRecordDecl *Class = torch::moduleClass(E->getType()))
      Found.add(contentOf(Class));
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
      Work.append(Construct->arg_begin(), Construct->arg_end());
    if (const auto *List = dyn_cast<InitListExpr>(E))
      Work.append(List->inits().begin(), List->inits().end());
  }
  return Found;
}

} // namespace torchtidy::model
