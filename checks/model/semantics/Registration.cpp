#include "model/semantics/Registration.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "model/domains/device/Transfer.h"
#include "model/domains/loans/Transfer.h"
#include "model/semantics/GradMode.h"
#include "torch/Modules.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;
using torchtidy::torch::TypeKind;

namespace torchtidy::model::registration {

void markFresh(Machine &M, const PlaceSet &Modules) {
  for (PlaceId P : Modules)
    M.state().Places[P].Registered = registered::No;
}

/// What is registered is the object that is given, not a copy.
static void record(Machine &M, const CallSite &Site, const Expr *What) {
  const Denotation D = M.denote(What);
  PlaceSet Objects;
  if (torch::isModule(What->getType()) || torch::moduleClass(What->getType()))
    Objects = M.identity(What);
  M.emit<RegisterEvent>(Site.Call, [&](RegisterEvent &E) {
    E.Operand = What;
    E.Places = D.Objects;
    E.Objects = Objects;
    E.Before = M.deepValue(What);
    E.Modules = Site.self(M);
  });
  PlaceSet Named = D.Objects;
  insert(Named, M.pointees(D.Objects));
  for (PlaceId P : Named) {
    Value V = M.load(P);
    V.Registered = registered::Yes;
    M.state().Places[P] = std::move(V);
  }
}

/// The result is put into a variable, or given to a function: push_back(...).
/// Otherwise it is assigned to a member.
static bool isPassedOn(const Machine &M, const Expr *Call) {
  const flow::ControlFlow *Flow = M.frame()->Flow;
  const Stmt *Parent = Flow ? Flow->parent(Call) : nullptr;
  while (
      Parent &&
      (isa<CastExpr, FullExpr, MaterializeTemporaryExpr, CXXBindTemporaryExpr>(
           Parent) ||
       (isa<CXXConstructExpr>(Parent) &&
        cast<CXXConstructExpr>(Parent)->getNumArgs() == 1)))
    Parent = Flow->parent(Parent);
  return isa_and_nonnull<DeclStmt>(Parent) ||
         (isa_and_nonnull<CallExpr>(Parent) &&
          !isa<CXXOperatorCallExpr>(Parent));
}

Denotation registerModule(Machine &M, const CallSite &Site) {
  Denotation Result;
  if (Site.Arguments.size() < 2)
    return Result;
  const Expr *What = Site.Arguments.back();
  record(M, Site, What);
  Result.Own.Registered = registered::Yes;
  // A fresh module becomes whatever it is assigned to: keepContents().
  const PlaceSet Registered = M.identity(What);
  const bool IsPassedOn = isPassedOn(M, Site.Call);
  for (PlaceId P : Registered)
    if (IsPassedOn || M.places().rootKind(P) != Root::Object)
      insert(Result.Own.Refs, P);
  for (PlaceId P : Site.self(M))
    M.addParts(P, Registered);
  return Result;
}

void keepContents(Machine &M, const Expr *From, const PlaceSet &Targets) {
  // A holder is made from the pointer that is returned.
  From = ast::stripCopies(From);
  while (const Expr *Pointer = ast::madeFrom(From))
    From = ast::stripCopies(Pointer);
  const auto *Call = dyn_cast<CallExpr>(From);
  if (!Call || torch::classify(Call).Kind != torch::Api::RegisterModule ||
      Call->getNumArgs() < 2)
    return;
  const Expr *What = Call->getArg(Call->getNumArgs() - 1);
  if (!torch::isModuleContainer(torch::moduleClass(What->getType())))
    return;
  for (PlaceId P : M.identity(What)) {
    const Value *Held = M.state().find(M.places().part(P));
    if (M.places().rootKind(P) != Root::Object || !Held || Held->Refs.empty())
      continue;
    const Value Contents = *Held;
    for (PlaceId Target : Targets)
      M.storeWeak(M.places().part(Target), Contents);
  }
}

PlaceSet registerContained(Machine &M, const Expr *Site,
                           const PlaceSet &Containers,
                           llvm::ArrayRef<const Expr *> Arguments) {
  PlaceSet Result;
  for (const Expr *Argument : Arguments) {
    // Looked at always: what a look-up adds must not depend on who listens.
    const PlaceSet Objects = M.modulesIn(Argument);
    if (Objects.empty())
      continue;
    insert(Result, Objects);
    M.emit<RegisterEvent>(Site, [&](RegisterEvent &E) {
      E.Operand = Argument;
      E.Objects = Objects;
      E.Modules = Containers;
    });
  }
  return Result;
}

/// A slot that is registered without a tensor in it is filled by hand.
static uint8_t registrationOf(const Expr *What) {
  const Expr *E = ast::stripCopies(What);
  const auto *List = dyn_cast_or_null<InitListExpr>(E);
  const auto *Construct = dyn_cast_or_null<CXXConstructExpr>(E);
  const bool IsEmpty = (List && List->getNumInits() == 0) ||
                       (Construct && Construct->getNumArgs() == 0);
  return IsEmpty ? registered::Yes | registered::No : uint8_t(registered::Yes);
}

static Denotation registerTensor(Machine &M, const CallSite &Site,
                                 uint8_t History) {
  Denotation Result;
  Result.Own.History = History;
  if (Site.Arguments.size() < 2)
    return Result;
  const Expr *What = Site.Arguments[1];
  record(M, Site, What);
  Result.Own.Registered = registrationOf(What);
  // Wherever the module goes, and whatever type it gets.
  Result.Own.InShape = M.deepValue(What).InShape;
  return Result;
}

Denotation registerParameter(Machine &M, const CallSite &Site) {
  // register_parameter(name, tensor, requires_grad = true)
  const std::optional<bool> Trains = ast::boolAt(Site.written(2), true);
  const uint8_t History = !Trains   ? history::Leaf | history::None
                          : *Trains ? history::Leaf
                                    : history::None;
  Denotation Result = registerTensor(M, Site, History);
  if (Site.Arguments.size() < 2)
    return Result;
  const Expr *What = Site.Arguments[1];
  for (PlaceId P : M.denote(What).Objects) {
    Value V = M.load(P);
    V.History = History;
    V.Origins.clear();
    M.state().Places[P] = std::move(V);
  }
  loans::keepInBackground(M, M.deepValue(What));
  return Result;
}

Denotation registerBuffer(Machine &M, const CallSite &Site) {
  Denotation Result = registerTensor(M, Site, history::None);
  if (Site.Arguments.size() > 1)
    loans::keepInBackground(M, M.deepValue(Site.Arguments[1]));
  return Result;
}

static bool mentions(Machine &M, const Stmt *S, const PlaceSet &Targets) {
  auto Names = [&](const Stmt *Part) {
    return isa<DeclRefExpr, MemberExpr>(Part) &&
           llvm::any_of(M.denote(cast<Expr>(Part)).Objects, [&](PlaceId P) {
             return llvm::is_contained(Targets, P);
           });
  };
  return ast::anyStmt(S, Names, ast::Lambdas::Enter);
}

/// Something in it requires a gradient, or is a member that the class
/// registers, if not in the constructor that has been seen.
static bool readsTrained(Machine &M, const Expr *From) {
  auto IsTrained = [&](const Stmt *Part) {
    if (!isa<DeclRefExpr, MemberExpr>(Part))
      return false;
    if (const auto *Member = dyn_cast<MemberExpr>(Part))
      if (const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
          Field && torch::isTensor(Field->getType()) &&
          (M.code().isRegisteredByClass(Field) ||
           M.code().mayBeRegisteredByClass(Field)))
        return true;
    return llvm::any_of(M.denote(cast<Expr>(Part)).Objects,
                        [&](PlaceId P) { return M.load(P).needsGrad(); });
  };
  return ast::anyStmt(From, IsTrained, ast::Lambdas::Enter);
}

/// A weight that is computed from others is trained through them, even if this
/// caller disabled grad mode.
static bool isTrainedThrough(Machine &M, const Expr *To,
                             const PlaceSet &Targets, const Expr *From,
                             const Value &Held, const Value &V) {
  if (!torch::isTensor(To->getType()) || mentions(M, From, Targets))
    return false;
  if ((V.History & history::Graph) || (V.mayHaveHistory() && Held.needsGrad()))
    return true;
  return Held.needsGrad() && !gradmode::declaresGuard(M.frame()->Function) &&
         readsTrained(M, From);
}

/// A layer of LibTorch's all of whose parameters have been replaced by tensors
/// that need no gradient is a fixed filter: it is frozen.
static void freezeWhereReplaced(Machine &M, PlaceId Replaced, const Value &V) {
  PlaceTable &Places = M.places();
  const FieldDecl *Member = Places.step(Replaced).Member;
  const auto *Layer = dyn_cast<CXXRecordDecl>(Member->getParent());
  if (!Layer || !torch::isLibTorch(Layer) || V.needsGrad() ||
      V.mayHaveHistory())
    return;
  const PlaceId Module = Places.parent(Replaced);
  for (const FieldDecl *Other : Layer->fields())
    if (Other != Member && torch::isTensor(Other->getType()) &&
        M.load(Places.field(Module, Other)).needsGrad())
      return;
  M.state().Places[Places.parameters(Module)] =
      Value::withHistory(history::None);
}

bool emitReplacement(Machine &M, const Expr *Site, const Expr *To,
                     const PlaceSet &Targets, const Expr *From,
                     const Value &V) {
  const PlaceTable &Places = M.places();
  if (Targets.size() != 1 || Places.isRoot(Targets.front()) ||
      Places.step(Targets.front()).Of != Step::Field)
    return false;
  const PlaceId P = Targets.front();
  const auto *Class =
      dyn_cast<CXXRecordDecl>(Places.step(P).Member->getParent());
  if (!Class || torch::kindOf(Class) != TypeKind::Module)
    return false;
  if (!V.isOnCpu())
    device::loseLayerOf(M, P);
  const Value Held = M.load(P);
  const Denotation Source = M.denote(From);
  uint8_t New = Source.Own.Registered;
  for (PlaceId Object : Source.Objects)
    New |= M.load(Object).Registered;
  if (Held.Registered != registered::Yes || New != registered::No ||
      isTrainedThrough(M, To, Targets, From, Held, V))
    return false;
  M.emit<ReplaceEvent>(Site, [&](ReplaceEvent &E) {
    E.Operand = To;
    E.Member = Targets;
    E.Before = Held;
    E.After = V;
  });
  freezeWhereReplaced(M, P, V);
  return true;
}

/// The class registers a tensor in this member.
static bool registersTensor(Machine &M, const FieldDecl *Member) {
  const auto *Class = dyn_cast<CXXRecordDecl>(Member->getParent());
  return torch::isTensor(Member->getType()) && Class &&
         torch::kindOf(Class) == TypeKind::Module &&
         (torch::isLibTorch(Class) || M.code().isRegisteredByClass(Member));
}

/// From is certainly no tensor that somebody has registered: an operation that
/// computes, or a view, which is an object of its own.
static bool makesAnother(const Expr *From) {
  const auto *Call = dyn_cast<CallExpr>(ast::stripCopies(From));
  const torch::Operation *Op = Call ? torch::classify(Call).Op : nullptr;
  return Op && Op->View != torch::Tri::Maybe &&
         Op->Writes == torch::operation::NoArgument;
}

/// The assignment that has given Member its value V; null where that is not
/// known.
static const CXXOperatorCallExpr *assignmentTo(Machine &M,
                                               const FieldDecl *Member,
                                               const Value &V,
                                               const Frame *&In) {
  for (OriginId Id : V.Origins) {
    const Origin &From = M.names().at(Id);
    const auto *Assign = dyn_cast_or_null<CXXOperatorCallExpr>(From.Site);
    if (!Assign || Assign->getOperator() != OO_Equal)
      continue;
    const auto *To = dyn_cast<MemberExpr>(ast::strip(Assign->getArg(0)));
    if (To && To->getMemberDecl() == Member &&
        makesAnother(Assign->getArg(1))) {
      In = From.In;
      return Assign;
    }
  }
  return nullptr;
}

/// Everything is on the CPU already, or comes back to be saved.
static bool movesToCpuOnly(Machine &M, const CallSite &Move) {
  bool IsCpu = false;
  for (const Expr *Argument : Move.Arguments) {
    const Value Said = M.deepValue(Argument);
    if (torch::isDevice(Argument->getType()))
      IsCpu = Said.OnDevice.get() == Device::CPU;
    else if (!Argument->getType()->isBooleanType())
      return false;
  }
  return IsCpu;
}

void emitLeftBehind(Machine &M, const CallSite &Move) {
  if (!M.isRecording() || movesToCpuOnly(M, Move))
    return;
  const PlaceTable &Places = M.places();
  const PlaceSet Modules = M.withParts(Move.self(M));
  for (const auto &Lying : M.state().Places) {
    const PlaceId P = Lying.first;
    const Value &V = Lying.second;
    if (Places.isRoot(P) || Places.step(P).Of != Step::Field ||
        Places.isSummary(P) || !(V.Registered & registered::No) ||
        !registersTensor(M, Places.step(P).Member))
      continue;
    const bool IsInModule = llvm::any_of(
        Modules, [&](PlaceId Module) { return Places.isWithin(P, Module); });
    const Frame *In = nullptr;
    const CXXOperatorCallExpr *Assign =
        IsInModule ? assignmentTo(M, Places.step(P).Member, V, In) : nullptr;
    if (!Assign)
      continue;
    const Machine::InFrame There(M, In);
    M.emit<ReplaceEvent>(Assign, [&](ReplaceEvent &E) {
      E.Operand = Assign->getArg(0);
      E.Member = {P};
      E.Before = V;
      E.After = V;
    });
  }
}

} // namespace torchtidy::model::registration
