#include "model/semantics/Conditions.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "model/domains/device/Transfer.h"
#include "torch/Devices.h"
#include "torch/Members.h"
#include "torch/Modules.h"
#include "torch/Options.h"
#include "torch/Types.h"

using namespace clang;
using torchtidy::torch::TypeKind;

namespace torchtidy::model::conditions {

/// Sees through negations, and turns Holds with each.
static const Expr *positive(const Expr *E, bool &Holds) {
  while ((E = ast::strip(E))) {
    const auto *Not = dyn_cast<UnaryOperator>(E);
    if (!Not || Not->getOpcode() != UO_LNot)
      return E;
    Holds = !Holds;
    E = Not->getSubExpr();
  }
  return E;
}

bool isWritten(const FunctionDecl *F, const ParmVarDecl *Parameter) {
  auto Writes = [&](const Stmt *S) {
    const Expr *Target = nullptr;
    if (const auto *Binary = dyn_cast<BinaryOperator>(S);
        Binary && Binary->isAssignmentOp())
      Target = Binary->getLHS();
    else if (const auto *Unary = dyn_cast<UnaryOperator>(S);
             Unary && Unary->getOpcode() == UO_AddrOf)
      Target = Unary->getSubExpr();
    const auto *Ref = dyn_cast_or_null<DeclRefExpr>(ast::strip(Target));
    return Ref && Ref->getDecl() == Parameter;
  };
  return ast::anyStmt(F->getBody(), Writes, ast::Lambdas::Enter);
}

/// The mode of the module that Call asks.
static std::optional<bool> modeOf(Machine &M, const CXXMemberCallExpr *Call) {
  uint8_t Mode = 0;
  const Expr *Object = Call->getImplicitObjectArgument();
  for (PlaceId P : M.identity(Object)) {
    if (M.places().isSummary(P))
      return std::nullopt;
    Mode |= M.moduleMode(P);
  }
  return Mode == mode::On    ? std::optional(true)
         : Mode == mode::Off ? std::optional(false)
                             : std::nullopt;
}

namespace {

/// x.device() == torch::kCUDA, device.type() != torch::kCPU.
struct DeviceComparison {
  const Expr *Left = nullptr, *Right = nullptr;
  bool AreTypes = false, IsEqual = false;
};

} // namespace

static std::optional<DeviceComparison> comparisonOf(const Expr *E) {
  if (const auto *Binary = dyn_cast<BinaryOperator>(E)) {
    const Expr *Left = Binary->getLHS(), *Right = Binary->getRHS();
    if (Binary->isEqualityOp() &&
        torch::isDeviceType(ast::strip(Left)->getType()) &&
        torch::isDeviceType(ast::strip(Right)->getType()))
      return DeviceComparison{Left, Right, true, Binary->getOpcode() == BO_EQ};
  } else if (const auto *Call = dyn_cast<CXXOperatorCallExpr>(E)) {
    if (torch::comparesDevices(Call->getDirectCallee()) &&
        Call->getNumArgs() == 2)
      return DeviceComparison{Call->getArg(0), Call->getArg(1), false,
                              Call->getOperator() == OO_EqualEqual};
  }
  return std::nullopt;
}

void keepOperands(Machine &M, const Expr *E) {
  const std::optional<DeviceComparison> Compare = comparisonOf(ast::strip(E));
  if (!Compare)
    return;
  M.keepDenotation(Compare->Left);
  M.keepDenotation(Compare->Right);
}

/// Where a tensor is, or which device it is that a comparison names.
static std::optional<bool> asksWhere(Machine &M, const Expr *E) {
  if (const std::optional<DeviceComparison> Compare = comparisonOf(E)) {
    const std::optional<bool> Are =
        device::areEqual(M.deepValue(Compare->Left),
                         M.deepValue(Compare->Right), Compare->AreTypes);
    return Are ? std::optional(*Are == Compare->IsEqual) : std::nullopt;
  }
  const auto *Call = dyn_cast<CXXMemberCallExpr>(E);
  const std::optional<torch::DeviceKind> Kind =
      torch::askedKind(Call ? Call->getMethodDecl() : nullptr);
  return Kind ? device::isOn(M.deepValue(Call->getImplicitObjectArgument()),
                             *Kind)
              : std::nullopt;
}

std::optional<bool> known(Machine &M, const Expr *E) {
  bool Holds = true;
  const Frame *In = M.frame();
  // From parameter to argument: the caller, its caller, ...
  while ((E = positive(E, Holds))) {
    if (const auto *Literal = dyn_cast<CXXBoolLiteralExpr>(E))
      return Literal->getValue() == Holds;
    // What is asked elsewhere has its operands there.
    if (In == M.frame())
      if (const std::optional<bool> IsThere = asksWhere(M, E))
        return *IsThere == Holds;
    if (const auto *Call = dyn_cast<CXXMemberCallExpr>(E)) {
      if (In != M.frame() ||
          !torch::isModule(Call->getImplicitObjectArgument()->getType()) ||
          !torch::asksForMode(Call->getMethodDecl()))
        return std::nullopt;
      const std::optional<bool> IsOn = modeOf(M, Call);
      return IsOn ? std::optional(*IsOn == Holds) : std::nullopt;
    }
    const auto *Ref = dyn_cast<DeclRefExpr>(E);
    const auto *Parameter =
        Ref ? dyn_cast<ParmVarDecl>(Ref->getDecl()) : nullptr;
    if (!Parameter || !Parameter->getType()->isBooleanType())
      return std::nullopt;
    const Supergraph::Passed Given = Supergraph::passed(In, Parameter);
    if (!Given.Argument || isWritten(Given.To->Function, Parameter))
      return std::nullopt;
    E = Given.Argument;
    In = Given.To->Caller;
  }
  return std::nullopt;
}

/// What is not there, or has no gradient, where Condition is decided as Holds.
static const Expr *withoutHistory(const Expr *Condition, bool Holds) {
  const auto *Call =
      dyn_cast_or_null<CXXMemberCallExpr>(positive(Condition, Holds));
  if (!Call || Holds || !Call->getType()->isBooleanType())
    return nullptr;
  const Expr *Object = ast::strip(Call->getImplicitObjectArgument());
  const CXXMethodDecl *Method = Call->getMethodDecl();
  const bool IsTensor = torch::isTensor(Object->getType());
  const bool Asks = torch::asksWhetherThere(Method) ||
                    (IsTensor && torch::saysRequiresGrad(Method)) ||
                    // if (state) of an optional
                    (isa_and_nonnull<CXXConversionDecl>(Method) &&
                     torch::isOptional(Object->getType()));
  return Asks && !Object->getType()->isPointerType() &&
                 (IsTensor ||
                  torch::kindOf(Object->getType()) == TypeKind::Pointer)
             ? Object
             : nullptr;
}

/// x of x.device().type(), x.device() and x.
static const Expr *askedForDevice(const Expr *E) {
  E = ast::strip(E);
  while (const auto *Call = dyn_cast<CXXMemberCallExpr>(E)) {
    if (!torch::isDevice(Call->getType().getNonReferenceType()) &&
        !torch::isDeviceType(Call->getType().getNonReferenceType()))
      break;
    E = ast::strip(Call->getImplicitObjectArgument());
  }
  return E;
}

/// The device variables that do not name the CPU, and the tensors that are not
/// there, where Condition is decided as Holds: those of device == torch::kCPU,
/// device.is_cpu(), x.device().type() == torch::kCPU, x.is_cuda().
static PlaceSet elsewhere(Machine &M, const Expr *Condition, bool Holds) {
  const Expr *E = positive(Condition, Holds);
  if (!E)
    return {};
  if (const std::optional<DeviceComparison> Compare = comparisonOf(E)) {
    const bool IsLeft = M.deepValue(Compare->Right).isOnCpu();
    if (Compare->IsEqual == Holds ||
        (!IsLeft && !M.deepValue(Compare->Left).isOnCpu()))
      return {};
    return M.named(askedForDevice(IsLeft ? Compare->Left : Compare->Right));
  }
  const auto *Call = dyn_cast<CXXMemberCallExpr>(E);
  const std::optional<torch::DeviceKind> Kind =
      torch::askedKind(Call ? Call->getMethodDecl() : nullptr);
  if (!Kind || (*Kind == torch::DeviceKind::CPU) == Holds)
    return {};
  return M.named(askedForDevice(Call->getImplicitObjectArgument()));
}

/// from_blob(..).to(device) is a copy where the device, or what it has made, is
/// not the CPU, or on it.
static void copyElsewhere(Machine &M, const PlaceSet &Elsewhere) {
  for (auto &[P, V] : M.state().Places) {
    const std::optional<PlaceId> From = V.DeviceFrom.get();
    if (V.borrows() && ((From && llvm::is_contained(Elsewhere, *From)) ||
                        llvm::is_contained(Elsewhere, P)))
      V.forgetLoans();
  }
}

bool assume(Machine &M, const Expr *Condition, bool Holds) {
  if (const std::optional<bool> Is = known(M, Condition))
    return *Is == Holds;
  if (const PlaceSet Others = elsewhere(M, Condition, Holds); !Others.empty())
    copyElsewhere(M, Others);
  const Expr *Absent = withoutHistory(Condition, Holds);
  if (!Absent)
    return true;
  for (PlaceId P : M.named(Absent)) {
    if (M.places().isSummary(P))
      continue;
    if (!M.places().isRoot(P))
      M.split(M.places().parent(P));
    if (!M.state().find(P) && M.isFromOutside(P))
      M.state().Places[P] = Value::withHistory(history::None);
    M.discardHistory(P, true);
  }
  return true;
}

std::optional<Denotation> arm(Machine &M, const Expr *Condition, bool Holds,
                              const Expr *Arm) {
  if (const std::optional<bool> Is = known(M, Condition); Is && *Is != Holds)
    return std::nullopt;
  const Expr *Absent = withoutHistory(Condition, Holds);
  const PlaceSet Tested = Absent ? M.named(Absent) : PlaceSet();
  const Expr *Chosen = ast::stripCopies(Arm);
  if (Tested.empty() || Chosen->getType().isNull() || M.named(Chosen) != Tested)
    return M.denote(Arm);
  Denotation Result;
  Result.Own = Value::withHistory(history::None);
  return Result;
}

} // namespace torchtidy::model::conditions
