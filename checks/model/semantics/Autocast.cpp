#include "model/semantics/Autocast.h"
#include "model/domains/attributes/Transfer.h"
#include "model/domains/device/Transfer.h"
#include "model/semantics/Conditions.h"
#include "torch/Modules.h"

using namespace clang;
using torchtidy::torch::AutocastCall;
using torchtidy::torch::KeptCasts;

namespace torchtidy::model::autocast {

/// const bool amp = false;
static std::optional<bool> constantOf(const Expr *Flag) {
  const auto *Ref = dyn_cast<DeclRefExpr>(ast::strip(Flag));
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return V && V->getType().isConstQualified() && V->getInit()
             ? ast::boolAt(V->getInit(), true)
             : std::nullopt;
}

/// Of a constant, of what a caller passes, or of a bool that has kept what was
/// on.
static std::optional<bool> flagOf(Machine &M, const CallExpr *Call) {
  const Expr *Flag = torch::autocastFlag(Call);
  if (const std::optional<bool> Constant = ast::boolAt(Flag, true))
    return Constant;
  if (const std::optional<bool> Constant = constantOf(Flag))
    return Constant;
  if (const std::optional<bool> Known = conditions::known(M, Flag))
    return Known;
  switch (M.deepValue(Flag).Mode) {
  case mode::On:
    return true;
  case mode::Off:
    return false;
  default:
    return std::nullopt;
  }
}

static uint8_t switched(const std::optional<bool> &IsOn,
                        const std::optional<torch::DeviceKind> &Of) {
  const uint8_t On = !Of                              ? casting::OnSome
                     : *Of == torch::DeviceKind::CPU  ? casting::OnCpu
                     : *Of == torch::DeviceKind::CUDA ? casting::OnCuda
                                                      : casting::OnSome;
  if (!IsOn)
    return On | casting::Off;
  return *IsOn ? On : casting::Off;
}

/// A variable of the program's own, and not one that has kept what was in
/// force.
static bool isOwnFlag(Machine &M, const Expr *Flag) {
  const Expr *Asked = ast::strip(Flag);
  return isa<DeclRefExpr, MemberExpr>(Asked) &&
         Asked->getType()->isBooleanType() && M.deepValue(Flag).Mode == 0;
}

static AutocastChange changeBy(Machine &M, const CallExpr *Site,
                               AutocastCall Call,
                               const std::optional<bool> &IsOn) {
  if (Call == AutocastCall::EmptyCache)
    return AutocastChange::EmptyCache;
  if (Call != AutocastCall::Switch)
    return AutocastChange::Other;
  if (!IsOn)
    return isOwnFlag(M, torch::autocastFlag(Site)) ? AutocastChange::OnIf
                                                   : AutocastChange::Set;
  return *IsOn ? AutocastChange::On : AutocastChange::Off;
}

/// The type that a guard of the user's is given.
static bool isReducedForCaller(Machine &M, const Expr *Type) {
  const Frame *In = M.frame();
  while (In) {
    if (torch::isReducedType(Type))
      return true;
    const auto *Ref = dyn_cast<DeclRefExpr>(ast::strip(Type));
    const auto *Parameter =
        Ref ? dyn_cast<ParmVarDecl>(Ref->getDecl()) : nullptr;
    const Supergraph::Passed Given =
        Parameter ? Supergraph::passed(In, Parameter) : Supergraph::Passed();
    if (!Given.Argument || conditions::isWritten(Given.To->Function, Parameter))
      return false;
    Type = Given.Argument;
    In = Given.To->Caller;
  }
  return false;
}

void change(Machine &M, const CallSite &Site) {
  const AutocastCall Call = torch::autocastCall(Site.Call);
  if (Call == AutocastCall::None ||
      (Call == AutocastCall::OtherType &&
       isReducedForCaller(M, torch::autocastType(Site.Call))))
    return;
  const bool HasFlag =
      Call == AutocastCall::Switch || Call == AutocastCall::SwitchCache;
  const std::optional<bool> IsOn =
      HasFlag ? flagOf(M, Site.Call) : std::nullopt;
  if (Call == AutocastCall::SwitchCache && IsOn == true)
    return;
  std::optional<torch::DeviceKind> Of;
  if (Call == AutocastCall::Switch)
    Of = torch::autocastDevice(Site.Call);
  const AutocastChange How = changeBy(M, Site.Call, Call, IsOn);
  M.emit<AutocastEvent>(Site.Call, [&](AutocastEvent &E) {
    E.How = How;
    if (Of)
      E.Of = device::deviceOf(*Of);
  });
  // What is switched on by a flag is there to be switched on: what goes wrong
  // then does so for whoever sets the flag.
  if (Call == AutocastCall::Switch)
    M.state().Autocast =
        switched(How == AutocastChange::OnIf ? true : IsOn, Of);
}

Denotation inForce(Machine &M) {
  const uint8_t Now = M.state().Autocast;
  Denotation Result;
  Result.Own.Mode = Now == casting::Off ? mode::Off
                    : Now & (casting::Off | casting::Inherited)
                        ? mode::On | mode::Off
                        : mode::On;
  return Result;
}

void enterThread(Machine &M, PlaceId Saved) {
  // Autocast is thread-local, and off at first. The place keeps as a mode what
  // it is in the thread that waits.
  Value V;
  V.Mode = M.state().Autocast;
  M.store(Saved, V);
  M.state().Autocast = casting::Off;
}

void leaveThread(Machine &M, PlaceId Saved) {
  if (const Value *V = M.state().find(Saved))
    M.state().Autocast = V->Mode;
}

static void emit(Machine &M, const Expr *Site, PlaceId Weights, KeptCasts Kept,
                 const Placement &Where) {
  M.emit<CastEvent>(Site, [&](CastEvent &E) {
    E.Weights = Weights;
    E.Where = Where;
    E.IsOnCpuOnly = Kept == KeptCasts::OnCpu;
  });
}

void emitCasts(Machine &M, const Expr *Site, KeptCasts Kept,
               llvm::ArrayRef<const Expr *> Operands) {
  if (Kept == KeptCasts::None || !M.isRecording())
    return;
  for (const Expr *Operand : Operands) {
    if (isa<CXXDefaultArgExpr>(Operand) || !torch::isTensor(Operand->getType()))
      continue;
    const Value Weight = M.deepValue(Operand);
    const std::optional<llvm::StringRef> Scalar = Weight.Scalar.get();
    if (Weight.History != history::Leaf ||
        (Scalar && !torch::isFloat(*Scalar) && *Scalar != DefaultScalar))
      continue;
    const PlaceSet Places = M.identity(Operand);
    if (Places.size() == 1 && !M.places().isSummary(Places.front()))
      emit(M, Site, Places.front(), Kept, Weight.placement());
  }
}

void emitCastsOfLayers(Machine &M, const Expr *Site, const PlaceSet &Modules) {
  if (!M.isRecording())
    return;
  for (PlaceId P : M.withParts(Modules)) {
    const QualType Type = M.places().knownType(P);
    const KeptCasts Kept = Type.isNull()
                               ? KeptCasts::None
                               : torch::keptCasts(torch::moduleClass(Type));
    if (Kept != KeptCasts::None && !M.places().isSummary(P) &&
        M.trainability(P) == history::Leaf)
      emit(M, Site, P, Kept, device::placementOf(M, P));
  }
}

/// Of layers that run one after the other, in whichever order: once one has
/// cast, those behind it keep the type or cast, too.
static torch::LayerType typeOfChain(Machine &M, const PlaceSet &Modules) {
  torch::LayerType Result = torch::LayerType::Kept;
  for (PlaceId P : M.withParts(Modules)) {
    if (llvm::is_contained(Modules, P))
      continue;
    const QualType Type = M.places().knownType(P);
    if (!Type.isNull() && torch::isTensor(Type))
      continue;
    const torch::LayerType Each =
        Type.isNull() ? torch::LayerType::Other
                      : torch::typeUnderAutocast(torch::moduleClass(Type));
    if (Each == torch::LayerType::Other)
      return Each;
    if (Each == torch::LayerType::Reduced)
      Result = Each;
  }
  return Result;
}

void describe(Machine &M, const CallSite &Site, const PlaceSet &Modules,
              Value &Result) {
  const CXXRecordDecl *Class = torch::moduleClass(Site.Object->getType());
  const torch::LayerType Type = torch::isModuleContainer(Class)
                                    ? typeOfChain(M, Modules)
                                    : torch::typeUnderAutocast(Class);
  const uint8_t Now = M.state().Autocast;
  if (Type == torch::LayerType::Kept && Site.first())
    Result.Scalar = M.deepValue(Site.first()).Scalar;
  else if (Type == torch::LayerType::Reduced &&
           isCast(Now, device::placementOf(M, Modules)))
    Result.Scalar = Known<llvm::StringRef>(ReducedScalar);
}

static bool isHalf(const Value &V) {
  return V.Scalar.get() == llvm::StringRef(ReducedScalar);
}

/// In float, as far as anything is known of it.
static bool isFloat(const Value &V) {
  const std::optional<llvm::StringRef> Scalar = V.Scalar.get();
  return Scalar && (torch::isFloat(*Scalar) || *Scalar == DefaultScalar);
}

static void emitUse(Machine &M, const Expr *Site, HalfUse How, const Expr *Half,
                    const Value &OfHalf, const Expr *Other = nullptr,
                    const Value &OfOther = Value()) {
  M.emit<HalfUseEvent>(Site, [&](HalfUseEvent &E) {
    E.How = How;
    E.Half = Half;
    E.OfHalf = OfHalf;
    E.Other = Other;
    E.OfOther = OfOther;
  });
}

static void emitInLoss(Machine &M, const Expr *Site, torch::HalfLoss Says,
                       llvm::ArrayRef<const Expr *> Operands) {
  if (Says == torch::HalfLoss::Takes || Operands.size() < 2 ||
      M.state().Autocast != casting::Off)
    return;
  const Value Output = M.deepValue(Operands[0]),
              Target = M.deepValue(Operands[1]);
  // What comes from elsewhere, a batch, is taken to be in float.
  if (isHalf(Output) && (isFloat(Target) || Target.Scalar.isEmpty()))
    emitUse(M, Site,
            Says == torch::HalfLoss::Throws ? HalfUse::Loss
                                            : HalfUse::LossOfBackward,
            Operands[0], Output, Operands[1], Target);
}

void emitUses(Machine &M, const Expr *Site, const torch::Operation &Op,
              llvm::ArrayRef<const Expr *> Operands) {
  if (!M.isRecording() || M.state().Autocast != casting::Off)
    return;
  emitInLoss(M, Site, torch::halfLossOf(Op), Operands);
  if (!torch::computesReduced(Op))
    return;
  const Expr *Half = nullptr, *Other = nullptr;
  for (const Expr *Operand : Operands) {
    if (!torch::isTensor(Operand->getType()))
      continue;
    const Value V = M.deepValue(Operand);
    if (isHalf(V))
      Half = Operand;
    else if (isFloat(V))
      Other = Operand;
  }
  if (Half && Other)
    emitUse(M, Site, HalfUse::Product, Half, M.deepValue(Half), Other,
            M.deepValue(Other));
}

void emitUsesOfLayer(Machine &M, const CallSite &Site) {
  const Expr *Given = Site.first();
  if (!M.isRecording() || !Given || M.state().Autocast != casting::Off)
    return;
  const CXXRecordDecl *Class = torch::moduleClass(Site.Object->getType());
  emitInLoss(M, Site.Call, torch::halfLossOf(Class), Site.Arguments);
  if (torch::typeUnderAutocast(Class) != torch::LayerType::Reduced)
    return;
  if (const Value V = M.deepValue(Given); isHalf(V))
    emitUse(M, Site.Call, HalfUse::Layer, Given, V);
}

void emitRead(Machine &M, const CallSite &Site) {
  if (!M.isRecording() || !torch::readsWiderElements(Site.callee()))
    return;
  if (const Value V = M.deepValue(Site.Object); isHalf(V))
    emitUse(M, Site.Call, HalfUse::Elements, Site.Object, V);
}

} // namespace torchtidy::model::autocast
