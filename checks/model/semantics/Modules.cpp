#include "model/semantics/Modules.h"
#include "ast/Walk.h"
#include "model/domains/Transfers.h"
#include "model/domains/device/Transfer.h"
#include "model/domains/history/Transfer.h"
#include "model/domains/saved/Transfer.h"
#include "model/semantics/Autocast.h"
#include "model/semantics/Conditions.h"
#include "model/semantics/Construction.h"
#include "model/semantics/Containers.h"
#include "model/semantics/Devices.h"
#include "model/semantics/GradMode.h"
#include "model/semantics/Losses.h"
#include "model/semantics/Registration.h"
#include "torch/Api.h"
#include "torch/Members.h"

using namespace clang;

namespace torchtidy::model::modules {

bool recordsIn(Machine &M, const Denotation &Returned, const Frame *Expansion) {
  Value V = Returned.Own;
  for (PlaceId P : Returned.Objects)
    V.join(M.deepLoad(P));
  return V.ManyOrigins || llvm::any_of(V.Origins, [&](OriginId Id) {
           const Origin &From = M.names().at(Id);
           return From.isBuilder() && From.In->isWithin(Expansion);
         });
}

namespace {

/// One forward pass: what goes in, and what comes of it.
struct Pass {
  PlaceSet Modules;
  Value Input, Result;
  llvm::SmallVector<uint8_t, 4> Histories;
  bool HasParameters = false;

  Pass(Machine &M, const CallSite &Site) {
    if (Site.Object)
      Modules = M.identity(Site.Object);
    LibraryCall Given(M, Site.Call, Site.Arguments);
    Given.IsForward = true;
    Result = resultOf(M, Given);
    for (auto [Argument, Passed] :
         llvm::zip_equal(Given.Arguments, Given.Values)) {
      if (torch::mayHoldTensor(Argument->getType()))
        Histories.push_back(Passed.History);
      Input.join(Passed);
    }
    const CXXRecordDecl *Class =
        Site.Object ? torch::moduleClass(Site.Object->getType()) : nullptr;
    HasParameters = torch::parametersOf(Class) != torch::Parameters::None;
    if (!HasParameters)
      return;
    uint8_t Trainable = 0;
    for (PlaceId Module : Modules)
      Trainable |= M.trainability(Module);
    Histories.push_back(Trainable ? Trainable : uint8_t(history::Leaf));
  }
};

} // namespace

/// What a module returns that is not seen is where its parameters are. One that
/// is not LibTorch's may put it anywhere.
static void placeResult(const CallSite &Site, const Placement &Module,
                        Value &Result) {
  // A call of what has no type, for a header is missing, names no object.
  const CXXRecordDecl *Class =
      Site.Object ? torch::moduleClass(Site.Object->getType()) : nullptr;
  if (Module.mayBeElsewhere())
    Result.setDevice(Module);
  else if (!Class || !torch::isLibTorch(Class) ||
           torch::kindOf(Class) == torch::TypeKind::ScriptModule)
    Result.joinDevice(Placement::unknown());
}

/// What an expanded forward() returns comes from the pass Here.
static void markReturned(Machine &M, const Denotation &Returned,
                         OriginId Here) {
  for (PlaceId P : Returned.Objects) {
    if (!M.deepLoad(P).History)
      M.storeWeak(P, Value::withHistory(history::Unknown));
    M.forEachWithin(P, [&](Value &V) {
      if (V.mayHaveHistory())
        V.addOrigin(Here);
    });
  }
}

/// What a module that is not seen writes through a pointer comes of the pass as
/// what it returns does: a loss that each layer of a Sequential adds to.
static void writeThroughPointers(Machine &M, const CallSite &Site,
                                 const Value &Made) {
  for (const Expr *Argument : Site.Arguments) {
    const QualType Type = Argument->getType();
    if (!Type->isPointerType() || Type->getPointeeType().isConstQualified() ||
        !torch::isTensor(Type->getPointeeType()))
      continue;
    for (PlaceId P : PlaceSet(M.denote(Argument).Own.Refs))
      M.storeWeak(P, Made);
  }
}

Denotation forward(Machine &M, const CallSite &Site,
                   const std::optional<Denotation> &Expanded,
                   const Value &HandedOn) {
  Pass Run(M, Site);
  Value &V = Run.Result;
  if (Expanded) {
    // The body was seen: it knows better than its class.
    Value Computed;
    for (PlaceId P : Expanded->Objects)
      Computed.join(M.deepLoad(P));
    // Without a history it returns a member that its holder has made unseen.
    V.History = Computed.History ? Computed.History : uint8_t(history::Unknown);
    for (OriginId Id : Computed.Origins)
      V.addOrigin(Id);
  } else {
    V.History = recorded(M, Run.Histories);
    V.takeOrigins(HandedOn);
    V.takeNeeds(HandedOn);
  }
  if (!V.mayHaveHistory())
    V.forgetGraph();
  Denotation Result;
  if (!Expanded && Site.Object) {
    autocast::describe(M, Site, Run.Modules, V);
    autocast::emitUsesOfLayer(M, Site);
  }
  if (!Expanded && Site.Object)
    saved::keepOfLayer(M, Site.Call, torch::moduleClass(Site.Object->getType()),
                       Site.first(), Run.Modules, V);
  Result.Own = V;
  // A loss or an activation: an operation like any other.
  if (!Run.HasParameters) {
    devices::meetInLoss(M, Site);
    losses::tellOfLayer(M, Site);
    return Expanded ? *Expanded : Result;
  }
  const Placement Where = device::placementOf(M, Run.Modules);
  devices::meetModule(M, Site, Run.Modules, Where);
  if (!Expanded) {
    placeResult(Site, Where, Result.Own);
    // Of a layer that may lie anywhere the result is where the input is only
    // if that went well: no more is said of it.
    const bool IsPlaced = Where.saysDevice() && !Where.OnDevice.isOpen();
    if (IsPlaced && Site.Object &&
        torch::computesAnew(torch::moduleClass(Site.Object->getType())))
      Result.Own.Rank = rank::Some;
    autocast::emitCastsOfLayers(M, Site.Call, Run.Modules);
  }

  const OriginId Here = M.origin(Origin::Forward, Site.Call);
  if (V.mayHaveHistory())
    Result.Own.addOrigin(Here);
  M.emit<ForwardEvent>(Site.Call, [&](ForwardEvent &E) {
    E.Modules = Run.Modules;
    E.Parts = M.withParts(Run.Modules);
    E.Result = Result.Own;
    E.Input = Run.Input;
    E.Origin = Here;
    for (PlaceId Module : Run.Modules)
      E.Mode |= M.moduleMode(Module);
  });
  if (!Expanded) {
    writeThroughPointers(M, Site, Result.Own);
    return Result;
  }
  markReturned(M, *Expanded, Here);
  return *Expanded;
}

Denotation parameters(Machine &M, const CallSite &Site) {
  Denotation Result;
  const PlaceSet Self = Site.self(M);
  Result.Own.setDevice(device::placementOf(M, Self));
  for (PlaceId P : Self) {
    insert(Result.Own.Refs, M.places().parameters(P));
    Result.Own.History |= M.trainability(P);
  }
  for (PlaceId P : M.withParts(Self)) {
    const bool IsInSelf = llvm::any_of(
        Self, [&](PlaceId Q) { return M.places().isWithin(P, Q); });
    if (!IsInSelf)
      insert(Result.Own.Refs, M.parametersOf(P));
  }
  return Result;
}

/// Said: what the line itself says of the mode. A bool that has kept the mode
/// says more of the module than of what the line is for.
static Denotation setMode(Machine &M, const CallSite &Site, uint8_t Mode,
                          uint8_t Said) {
  const PlaceSet Modules = Site.self(M);
  // What is in it gets the mode too, whatever it had.
  for (PlaceId P : Modules)
    M.forEachWithin(P, [](Value &Part) { Part.Mode = 0; });
  const PlaceSet Parts = M.withParts(Modules);
  for (PlaceId P : Parts) {
    Value V = M.load(P);
    V.Mode = Mode;
    M.state().Places[P] = V;
  }
  M.emit<ModeChangeEvent>(Site.Call, [&](ModeChangeEvent &E) {
    E.Modules = Modules;
    E.Parts = Parts;
    E.Mode = Said;
  });
  return {};
}

/// An override of train() that switches the gradients of its parameters.
static bool freezesInEval(const CXXRecordDecl *Class) {
  return ast::anyStmt(
      torch::bodyOfTrain(Class),
      [](const Stmt *S) {
        const auto *Call = dyn_cast<CallExpr>(S);
        return Call && torch::classify(Call).Kind == torch::Api::RequiresGrad;
      },
      ast::Lambdas::Enter);
}

/// The members of a module that are parameters. Which of those that are frozen
/// are buffers is not known when they are to be trained again.
static void switchMembers(Machine &M, PlaceId Module, bool Trains) {
  for (PlaceId Member : M.places().children(Module)) {
    auto It = M.state().Places.find(Member);
    const QualType Type = M.places().knownType(Member);
    if (It == M.state().Places.end() || Type.isNull() ||
        !torch::isTensor(Type) || It->second.Registered != registered::Yes)
      continue;
    Value &V = It->second;
    if (Trains)
      V.History |= history::Unknown;
    else if (V.needsGrad())
      V.History = history::None;
    V.Origins.clear();
  }
}

/// Where the class of a module has such an override, which eval() calls or
/// which calls LibTorch's train(): all parameters at once. What the loop in it
/// does is done to some of them, as far as anybody can see.
static void switchGradients(Machine &M, const CallSite &Site, bool Trains) {
  const PlaceSet Modules = Site.self(M);
  const auto *Around = dyn_cast<CXXMethodDecl>(M.frame()->Function);
  const bool Switches =
      (Site.Object &&
       freezesInEval(torch::moduleClass(Site.Object->getType()))) ||
      (Around && torch::isModule(Around->getThisType()->getPointeeType()) &&
       freezesInEval(Around->getParent())) ||
      llvm::any_of(Modules, [&](PlaceId P) {
        return freezesInEval(torch::moduleClass(M.places().knownType(P)));
      });
  if (!Switches)
    return;
  for (PlaceId P : M.withParts(Modules)) {
    const PlaceId Parameters = M.parametersOf(P);
    Value V = M.load(Parameters);
    V.History = Trains ? history::Leaf : history::None;
    V.Origins.clear();
    M.state().Places[Parameters] = std::move(V);
    switchMembers(M, P, Trains);
  }
}

Denotation train(Machine &M, const CallSite &Site) {
  std::optional<bool> On = ast::boolAt(Site.first(), true);
  if (!On)
    On = conditions::known(M, Site.first());
  if (On) {
    switchGradients(M, Site, *On);
    const uint8_t Mode = *On ? mode::On : mode::Off;
    return setMode(M, Site, Mode, Mode);
  }
  const uint8_t Either = mode::On | mode::Off;
  const uint8_t Mode = gradmode::asked(M, Site.first()).value_or(Either);
  return setMode(M, Site, Mode, Mode == mode::On ? Mode : Either);
}

Denotation eval(Machine &M, const CallSite &Site) {
  switchGradients(M, Site, /*Trains=*/false);
  return setMode(M, Site, mode::Off, mode::Off);
}

Denotation load(Machine &M, const CallSite &Site) {
  const bool ReturnsModule = torch::isModule(Site.Call->getType());
  bool IsTemporary = false;
  PlaceSet Loaded;
  if (ReturnsModule)
    Loaded = M.constructionTarget(Site.Call, IsTemporary);
  else if (Site.first())
    Loaded = M.withParts(M.identity(Site.first()));
  M.emit<LoadEvent>(Site.Call, [&](LoadEvent &E) { E.Loaded = Loaded; });
  // Where it was saved, unless a device is given.
  Denotation Result;
  if (!ReturnsModule && Site.first()) {
    device::lose(M, M.identity(Site.first()));
    if (torch::isTensor(Site.first()->getType()))
      devices::replaceData(M, Site.first());
  }
  for (const Expr *Argument :
       llvm::ArrayRef(Site.Arguments)
           .drop_front(std::min<size_t>(1, Site.Arguments.size())))
    if (!isa<CXXDefaultArgExpr>(Argument))
      Result.Own.joinDevice(M.deepValue(Argument));
  if (!Result.Own.saysDevice())
    Result.Own.setDevice(Placement::unknown());
  if (!ReturnsModule)
    Result.Own.History = history::None;
  return Result;
}

Denotation freeze(Machine &M, const CallSite &Site) {
  bool IsTemporary = false;
  Denotation Result;
  Result.Objects = M.constructionTarget(Site.Call, IsTemporary);
  Value Frozen;
  if (Site.first())
    Frozen.setDevice(device::placementOf(M, M.identity(Site.first())));
  for (PlaceId P : Result.Objects) {
    M.store(P, Frozen);
    // It has no parameters any more.
    M.state().Places[M.places().parameters(P)] =
        Value::withHistory(history::None);
  }
  return Result;
}

Denotation initialize(Machine &M, const CallSite &Site) {
  if (!Site.first())
    return {};
  M.emitWrite(Site.Call, Site.first());
  saved::overwrite(M, Site.Call, Site.first());
  return M.denote(Site.first());
}

Denotation part(Machine &M, const CallSite &Site, torch::PartAccess Access) {
  const PlaceSet Self = Site.self(M);
  PlaceSet Leads;
  if (Access == torch::PartAccess::Itself || Access == torch::PartAccess::All)
    insert(Leads, Self);
  if (Access != torch::PartAccess::Itself)
    for (PlaceId P : Self)
      insert(Leads, M.parts(P));
  Denotation Result;
  if (Site.Call->isGLValue())
    Result.Objects = std::move(Leads);
  else
    Result.Own = Value::handle(std::move(Leads));
  return Result;
}

/// Module::clone(): a module of its own, which nothing has registered. reset()
/// has made its parameters anew, so a frozen module's copy trains; it is in the
/// mode that the original was in (torch/nn/cloneable.h), and where it is asked
/// for, or where the original is.
static Denotation copyOf(Machine &M, const CallSite &Site) {
  const PlaceId Copy = M.madeBy(Site.Call);
  uint8_t Mode = 0;
  for (PlaceId P : Site.self(M))
    Mode |= M.moduleMode(P);
  const Expr *To = Site.first();
  const bool IsSaid = To && !isa<CXXDefaultArgExpr>(To);
  const Placement Where = IsSaid ? M.deepValue(To).placement()
                                 : device::placementOf(M, Site.self(M));
  M.erase(Copy);
  registration::markFresh(M, {Copy});
  Value &Made = M.state().Places[Copy];
  Made.Mode = Mode;
  Made.setDevice(Where.saysDevice() ? Where : Placement::unknown());
  emitCreate(M, Site.Call, {Copy});
  Denotation Result;
  Result.Own = Value::handle({Copy});
  return Result;
}

/// push_back(), extend(), update().
static void addParts(Machine &M, const CallSite &Site) {
  const PlaceSet Self = Site.self(M);
  const PlaceSet Added =
      registration::registerContained(M, Site.Call, Self, Site.Arguments);
  const Placement There = device::placementOf(M, Self);
  const Placement New = device::placementOf(M, Added);
  if (!Added.empty() && !(There == New))
    device::lose(M, Self);
  for (PlaceId P : Self)
    M.addParts(P, Added);
}

Denotation otherMember(Machine &M, const CallSite &Site) {
  if (torch::unregisters(Site.callee()))
    M.emit<RegisterEvent>(Site.Call);
  // ModuleList, Sequential.
  if (Site.Object && Site.first() && torch::appendsOne(Site.callee()))
    containers::emitFill(M, Site.Call, M.identity(Site.Object),
                         Site.Arguments.back(), /*IsAppended=*/true);
  Denotation Result;
  if (torch::isTensor(Site.Call->getType())) {
    Result.Own.History = history::None;
    return Result;
  }
  if (Site.Object && torch::returnsMethod(Site.callee())) {
    Result.Own = Value::handle(M.identity(Site.Object));
    return Result;
  }
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Site.callee());
  if (Site.Object && Method && torch::isModule(Site.Object->getType()))
    devices::moveModule(M, Site);
  if (!Site.Object || !Method ||
      torch::kindOf(Method->getParent()) != torch::TypeKind::Module)
    return Result;
  if (torch::isClone(Method))
    return copyOf(M, Site);
  if (torch::asksForMode(Method))
    for (PlaceId P : Site.self(M))
      Result.Own.Mode |=
          M.places().isSummary(P) ? mode::On | mode::Off : M.moduleMode(P);
  if (torch::addsParts(Method))
    addParts(M, Site);
  if (torch::movesParameters(Method))
    registration::emitLeftBehind(M, Site);
  const torch::PartAccess Access = torch::partAccess(Method);
  return Access == torch::PartAccess::None ? Result : part(M, Site, Access);
}

} // namespace torchtidy::model::modules
