#include "queries/devices/DeviceUse.h"
#include "ast/Walk.h"
#include "model/icfg/Bodies.h"
#include "torch/Api.h"
#include "torch/Devices.h"
#include "torch/Options.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace torchtidy::model {

/// torch::Device(text): only the run knows which it is, unless it is written.
static bool maySayDevice(const CXXConstructExpr *Construct) {
  if (!torch::isDevice(Construct->getType()) || Construct->getNumArgs() == 0 ||
      Construct->getConstructor()->isCopyOrMoveConstructor())
    return false;
  const std::optional<torch::NamedDevice> Named =
      torch::namedDevice(Construct->getArg(0));
  return Named ? Named->Kind != torch::DeviceKind::CPU
               : !Construct->getArg(0)->getType()->isEnumeralType();
}

static bool mayUse(const Stmt *S);

/// struct Options { torch::Device device = torch::kCUDA; }: what members are
/// made with where no constructor says otherwise, those of members included.
static bool mayBegin(const CXXRecordDecl *Class) {
  if (!Class || !Class->hasDefinition() || torch::isLibTorch(Class) ||
      torch::isStd(Class))
    return false;
  for (const FieldDecl *Field : Class->getDefinition()->fields()) {
    if (const Expr *Init = Field->getInClassInitializer()) {
      if (ast::anyStmt(Init, mayUse, ast::Lambdas::Enter))
        return true;
    } else if (mayBegin(Field->getType()->getAsCXXRecordDecl())) {
      return true;
    }
  }
  return false;
}

static bool mayUse(const Stmt *S) {
  if (const auto *Ref = dyn_cast<DeclRefExpr>(S)) {
    const std::optional<torch::DeviceKind> Where =
        torch::deviceOf(Ref->getDecl());
    return Where && *Where != torch::DeviceKind::CPU &&
           torch::isLibTorch(Ref->getDecl());
  }
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(S))
    return maySayDevice(Construct) ||
           mayBegin(Construct->getConstructor()->getParent());
  if (const auto *List = dyn_cast<InitListExpr>(S))
    return mayBegin(List->getType()->getAsCXXRecordDecl());
  const auto *Call = dyn_cast<CallExpr>(S);
  if (!Call)
    return false;
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (torch::isOfAccelerator(Callee) && !torch::asksForAccelerator(Callee))
    return true;
  // The device is chosen in another file.
  if (Callee && !Callee->isDefined() && torch::maySayDevice(Call->getType()) &&
      !torch::isLibTorch(Callee) && !torch::isStd(Callee))
    return true;
  const torch::Operation *Op = torch::classify(Call).Op;
  return Op && torch::transferOf(*Op) == torch::Transfer::Cuda;
}

bool mayUseDevice(Program &Program) {
  const flow::UserFunctions &Functions = Program.code().functions();
  bool HasMain = false, Found = false;
  auto Look = [&](const Stmt *S) {
    Found = Found || ast::anyStmt(S, mayUse, ast::Lambdas::Enter);
  };
  for (const FunctionDecl *F : Functions.all())
    HasMain |= F->isMain();
  if (!HasMain)
    return true;
  forEachBody(Functions, Look,
              [&](const CXXCtorInitializer &Init) { Look(Init.getInit()); });
  for (const FunctionDecl *F : Functions.all())
    for (const ParmVarDecl *Parameter : F->parameters())
      if (Parameter->hasDefaultArg() &&
          !Parameter->hasUninstantiatedDefaultArg() &&
          !Parameter->hasUnparsedDefaultArg())
        Look(Parameter->getDefaultArg());
  for (const VarDecl *V : Functions.globals())
    Look(V->getInit());
  return Found;
}

} // namespace torchtidy::model
