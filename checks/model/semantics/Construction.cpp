#include "model/semantics/Construction.h"
#include "ast/Expressions.h"
#include "model/domains/device/Transfer.h"
#include "model/domains/loans/Transfer.h"
#include "model/semantics/Containers.h"
#include "model/semantics/Foreign.h"
#include "model/semantics/GradMode.h"
#include "model/semantics/Optimizers.h"
#include "model/semantics/Registration.h"
#include "torch/Devices.h"
#include "torch/LayerOptions.h"
#include "torch/Modules.h"
#include "torch/Ownership.h"

using namespace clang;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

void emitCreate(Machine &M, const Expr *Site, const PlaceSet &Objects) {
  M.emit<CreateEvent>(Site, [&](CreateEvent &E) { E.Objects = Objects; });
}

static Denotation at(const PlaceSet &Objects) {
  Denotation Result;
  Result.Objects = Objects;
  return Result;
}

static Denotation constructGuard(Machine &M, const Construction &Made) {
  // A guard that is a temporary of its own guards nothing.
  const bool IsCopy =
      Made.Constructor && Made.Constructor->isCopyOrMoveConstructor();
  if (!Made.IsTemporary && !IsCopy)
    for (PlaceId P : Made.Target)
      gradmode::construct(M, Made.Site, torch::recordOf(Made.Type), P,
                          Made.Arguments);
  return at(Made.Target);
}

static Denotation constructCopy(Machine &M, const Construction &Made) {
  const Expr *From = Made.Arguments.front();
  Denotation Source = M.denote(From);
  loans::shareHandle(M, From);
  // A copy of what a reference leads to.
  if (isa<CallExpr>(ast::strip(From)) && ast::strip(From)->isGLValue())
    Source.Own.forgetLoans();
  if (Made.IsTemporary)
    return Source;
  M.erase(Made.Target);
  for (PlaceId To : Made.Target)
    M.storeDenoted(To, Source);
  return at(Made.Target);
}

static Denotation constructOptimizer(Machine &M, const Construction &Made) {
  M.erase(Made.Target);
  for (PlaceId P : Made.Target)
    optimizers::construct(M, Made.Site, P, Made.Arguments);
  emitCreate(M, Made.Site, Made.Target);
  return at(Made.Target);
}

static PlaceSet modulesIn(Machine &M, llvm::ArrayRef<const Expr *> Arguments) {
  PlaceSet Result;
  for (const Expr *Argument : Arguments)
    insert(Result, M.modulesIn(Argument));
  return Result;
}

/// What a module is made from is in it: Sequential(backbone, head).
static void keepParts(Machine &M, const Construction &Made) {
  const bool IsContainer =
      torch::isModuleContainer(torch::moduleClass(Made.Type));
  const PlaceSet Given =
      IsContainer ? registration::registerContained(M, Made.Site, Made.Target,
                                                    Made.Arguments)
                  : modulesIn(M, Made.Arguments);
  if (Given.empty() && !IsContainer)
    return;
  for (PlaceId P : Made.Target)
    M.setParts(P, Given, /*IsWhole=*/IsContainer);
}

/// A layer of LibTorch's; a container is where its parts are.
static bool isMadeOnCpu(Machine &M, const Construction &Made) {
  const CXXRecordDecl *Class = torch::recordOf(Made.Type);
  if (!Class || !torch::isLibTorch(Class) ||
      Made.kind() == TypeKind::ScriptModule)
    return false;
  const PlaceSet Given = modulesIn(M, Made.Arguments);
  return Given.empty() || device::placementOf(M, Given).isOnCpu();
}

/// A layer that is made with bias(false) has none that could be replaced, moved
/// or trained.
static void leaveOut(Machine &M, const Construction &Made) {
  const CXXRecordDecl *Class = torch::moduleClass(Made.Type);
  if (!Class || !torch::isLibTorch(Class) || !Class->hasDefinition())
    return;
  auto IsLeftOut = [&](const FieldDecl *Member) {
    return torch::isTensor(Member->getType()) &&
           llvm::any_of(Made.Arguments, [&](const Expr *Options) {
             return torch::leavesOut(Options, Member);
           });
  };
  auto LeaveOut = [&](const CXXRecordDecl *Of) {
    for (const FieldDecl *Member : Of->fields())
      if (IsLeftOut(Member))
        for (PlaceId P : Made.Target)
          M.store(M.places().field(P, Member),
                  Value::withHistory(history::None));
    return true;
  };
  LeaveOut(Class);
  Class->forallBases(LeaveOut);
}

/// A pointer to the module, or its holder. Sequential(linear) is another
/// module around it; AnyModule holds whatever it is given.
static bool mayBeHeldBy(QualType Holder, QualType Given) {
  const CXXRecordDecl *Class = torch::moduleClass(Given);
  const CXXRecordDecl *Held = torch::moduleClass(Holder);
  if (!Class || !Held)
    return Class;
  return Class->getCanonicalDecl() == Held->getCanonicalDecl() ||
         (Class->hasDefinition() && Class->isDerivedFrom(Held));
}

static Denotation constructModule(Machine &M, const Construction &Made) {
  M.erase(Made.Target);
  const Expr *First = Made.Arguments.empty() ? nullptr : Made.Arguments.front();
  if (Made.kind() == TypeKind::ModuleHolder && Made.Arguments.size() == 1 &&
      mayBeHeldBy(Made.Type, First->getType())) {
    // A holder made from a pointer shares its module. One that nothing is known
    // of (register_module returns what it was given) is the holder's own.
    const Denotation Shared = M.denote(First);
    if (!Shared.Objects.empty() || !Shared.Own.Refs.empty())
      for (PlaceId P : Made.Target)
        M.store(P, Value::handle(M.identity(First)));
    uint8_t Known = Shared.Own.Registered;
    for (const PlaceSet *Set : {&Shared.Objects, &Shared.Own.Refs})
      Known |= M.load(*Set).Registered;
    for (PlaceId P : Made.Target)
      M.state().Places[P].Registered = Known;
  } else if (!First || !First->getType()->isNullPtrType()) {
    registration::markFresh(M, Made.Target);
    keepParts(M, Made);
    device::markMade(M, Made.Target, isMadeOnCpu(M, Made));
    leaveOut(M, Made);
  }
  emitCreate(M, Made.Site, Made.Target);
  return at(Made.Target);
}

static Value pointerFrom(Machine &M, llvm::ArrayRef<const Expr *> Arguments) {
  Value Result;
  for (const Expr *Argument : Arguments) {
    const Denotation Source = M.denote(Argument);
    Result.join(Source.Own);
    if (torch::kindOf(Argument->getType()) == TypeKind::Pointer)
      insert(Result.Refs, M.pointees(Source.Objects));
    else
      for (PlaceId P : Source.Objects)
        Result.join(M.deepLoad(P));
  }
  return Result;
}

static Denotation constructAggregate(Machine &M, const Construction &Made) {
  M.erase(Made.Target);
  for (PlaceId P : Made.Target)
    for (unsigned I = 0; I < Made.Arguments.size(); ++I)
      M.store(M.places().index(P, I), M.deepValue(Made.Arguments[I]));
  return at(Made.Target);
}

/// vector(other.begin(), other.end())
static bool isMadeOfRange(const Construction &Made) {
  return Made.kind() == TypeKind::Container &&
         torch::mayHoldTensor(Made.Type) && Made.Arguments.size() >= 2 &&
         Made.Arguments[0]->getType().getCanonicalType().getUnqualifiedType() ==
             Made.Arguments[1]
                 ->getType()
                 .getCanonicalType()
                 .getUnqualifiedType();
}

/// What is given is in it.
static Value heldBy(Machine &M, const Construction &Made) {
  Value Result;
  const bool IsRange = isMadeOfRange(Made);
  for (const Expr *Argument : Made.Arguments)
    Result.join(IsRange ? containers::elementsGiven(M, Argument, Made.Target)
                        : M.deepValue(Argument));
  if (!torch::mayBorrow(Made.Type))
    Result.forgetLoans();
  if (torch::isDevice(Made.Type))
    device::describeMade(Made.Arguments, Result);
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(Made.Site))
    loans::lendToList(M, Construct, Result, Made.IsTemporary);
  return Result;
}

static bool isForeign(const Construction &Made) {
  const CXXRecordDecl *Class =
      Made.Constructor ? Made.Constructor->getParent() : nullptr;
  return Class && !torch::isStd(Class) && !torch::isLibTorch(Class) &&
         Made.Constructor->isUserProvided() && Made.kind() == TypeKind::Other &&
         !Class->isLambda();
}

/// A value, or an object of which only what it is given is known.
static Denotation constructValue(Machine &M, const Construction &Made) {
  const TypeKind Kind = Made.kind();
  Denotation Result;
  if (Kind == TypeKind::Pointer) {
    Result.Own = pointerFrom(M, Made.Arguments);
  } else if (Kind == TypeKind::Tensor && Made.Arguments.empty()) {
    Result.Own = Value::withHistory(history::None);
  } else if (isForeign(Made)) {
    Result =
        foreignCall(M, Made.Site, Made.Constructor, nullptr, Made.Arguments);
    if (torch::standsOverPointer(Made.Constructor))
      for (const Expr *Argument : Made.Arguments)
        if (Argument->getType()->isPointerType())
          Result.Own.takeLoans(M.deepValue(Argument));
  } else {
    Result.Own = heldBy(M, Made);
    if (torch::maySayDevice(Made.Type))
      device::complete(Made.Site, Result.Own);
    // vector(n, t)
    if (Kind == TypeKind::Container && Made.Arguments.size() >= 2 &&
        Made.Arguments[0]->getType()->isIntegerType())
      containers::emitFill(M, Made.Site, Made.Target, Made.Arguments[1],
                           /*IsAppended=*/false);
  }
  if (Made.IsTemporary) {
    if (Kind != TypeKind::Pointer)
      insert(M.state().Temporaries, Made.Target);
    return Result;
  }
  M.erase(Made.Target);
  for (PlaceId P : Made.Target)
    M.store(P, Result.Own);
  return at(Made.Target);
}

Denotation construct(Machine &M, const Construction &Made) {
  assert(!Made.Target.empty() && "an object has a place");
  const TypeKind Kind = Made.kind();
  if (gradmode::isGuard(Kind))
    return constructGuard(M, Made);
  if (Made.Constructor && Made.Constructor->isCopyOrMoveConstructor() &&
      !Made.Arguments.empty())
    return constructCopy(M, Made);
  switch (Kind) {
  case TypeKind::Optimizer:
    return constructOptimizer(M, Made);
  case TypeKind::Module:
  case TypeKind::ModuleHolder:
  case TypeKind::ScriptModule:
    return constructModule(M, Made);
  case TypeKind::Aggregate:
    if (Made.Arguments.size() > 1)
      return constructAggregate(M, Made);
    break;
  default:
    break;
  }
  return constructValue(M, Made);
}

Denotation construct(Machine &M, const CXXConstructExpr *Construct) {
  Construction Made;
  Made.Site = Construct;
  Made.Type = Construct->getType();
  Made.Constructor = Construct->getConstructor();
  Made.Arguments.assign(Construct->arg_begin(), Construct->arg_end());
  Made.Target = M.constructionTarget(Construct, Made.IsTemporary);
  if (Made.Constructor->isMoveConstructor() && !Made.Arguments.empty())
    loans::giveUp(M, M.denote(Made.Arguments.front()).Objects);
  const Frame *Seen = M.graph().expansion(M.frame(), Construct);
  if (!Seen || !isa<CXXConstructorDecl>(Seen->Function))
    return construct(M, Made);
  emitCreate(M, Construct, Made.Target);
  if (torch::isModule(Made.Type)) {
    registration::markFresh(M, Made.Target);
    device::markMade(M, Made.Target, /*IsSeen=*/true);
  }
  return at(Made.Target);
}

} // namespace torchtidy::model
