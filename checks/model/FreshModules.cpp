#include "model/FreshModules.h"
#include "model/Supergraph.h"
#include "torch/Api.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;
using torchtidy::torch::Api;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

static const Expr *stripMoves(const Expr *E) {
  E = strip(E);
  while (E) {
    const Expr *Inner = E;
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(E);
        Construct && Construct->getNumArgs() == 1 &&
        Construct->getConstructor()->isCopyOrMoveConstructor())
      Inner = strip(Construct->getArg(0));
    else if (const auto *Call = dyn_cast<CallExpr>(E);
             Call && torch::stdName(Call->getDirectCallee()) == "move" &&
             Call->getNumArgs() == 1)
      Inner = strip(Call->getArg(0));
    if (Inner == E)
      break;
    E = Inner;
  }
  return E;
}

bool registers(const Stmt *S) {
  if (!S)
    return false;
  if (const auto *Call = dyn_cast<CallExpr>(S)) {
    const Api Kind = torch::classify(Call).Kind;
    if (Kind == Api::RegisterModule || Kind == Api::RegisterParameter ||
        Kind == Api::RegisterBuffer || Kind == Api::Foreign)
      return true;
  }
  return llvm::any_of(S->children(), registers);
}

bool isEmptyHandle(const Expr *E) {
  E = stripCopies(E);
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
    const StringRef Name = torch::stdName(Call->getDirectCallee());
    return Name == "make_shared" || Name == "make_unique";
  }
  const auto *Construct = dyn_cast_or_null<CXXConstructExpr>(E);
  if (!Construct ||
      torch::kindOf(Construct->getType()) != TypeKind::ModuleHolder)
    return false;
  return llvm::all_of(Construct->arguments(), [](const Expr *Argument) {
    return !torch::moduleClass(Argument->getType()) || isFreshModule(Argument);
  });
}

ModuleContent contentOf(const Expr *Member) {
  ModuleContent Found;
  llvm::SmallVector<const Expr *, 4> Work = {Member};
  while (!Work.empty()) {
    const Expr *E = stripMoves(Work.pop_back_val());
    if (!E)
      continue;
    if (const CXXRecordDecl *Class = torch::moduleClass(E->getType())) {
      Found.HoldsParameters |=
          torch::parametersOf(Class) == torch::Parameters::Some;
      Found.DependsOnMode |=
          torch::modeDependence(Class) == torch::Parameters::Some;
    }
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
      Work.append(Construct->arg_begin(), Construct->arg_end());
    if (const auto *List = dyn_cast<InitListExpr>(E))
      Work.append(List->inits().begin(), List->inits().end());
  }
  return Found;
}

} // namespace torchtidy::model
