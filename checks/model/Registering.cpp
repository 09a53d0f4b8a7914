// What modules register, and what optimizers are given.
#include "model/Interpreter.h"
#include "torch/Types.h"

using namespace clang;
using torchtidy::torch::Api;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

static bool isRegistration(const Stmt *S) {
  const auto *Call = dyn_cast<CallExpr>(S);
  if (!Call)
    return false;
  const Api Kind = torch::classify(Call).Kind;
  return Kind == Api::RegisterModule || Kind == Api::RegisterParameter ||
         Kind == Api::RegisterBuffer;
}

static bool holds(const Stmt *S, llvm::function_ref<bool(const Stmt *)> Is) {
  return S && (Is(S) || llvm::any_of(S->children(), [&](const Stmt *Child) {
                 return holds(Child, Is);
               }));
}

/// A statement of a constructor that registers the member, whatever happens.
static bool registers(const Stmt *S, const FieldDecl *Member) {
  const auto *E = dyn_cast_or_null<Expr>(S);
  return E && holds(E, isRegistration) && holds(E, [&](const Stmt *Part) {
           const auto *Named = dyn_cast<MemberExpr>(Part);
           return Named && Named->getMemberDecl() == Member;
         });
}

bool Code::isRegistered(const FieldDecl *Member) const {
  auto [It, Inserted] = Registered.try_emplace(Member, false);
  if (!Inserted)
    return It->second;
  const auto *Class = dyn_cast<CXXRecordDecl>(Member->getParent());
  if (!Class || Class->isDependentContext() || torch::isLibTorch(Class) ||
      torch::kindOf(Class) != TypeKind::Module)
    return false;
  auto InClass = [&] {
    const Expr *Init = Member->getInClassInitializer();
    return Init && holds(Init, isRegistration);
  };
  auto IsRegisteredIn = [&](const CXXConstructorDecl *Constructor) {
    for (const CXXCtorInitializer *Init : Constructor->inits()) {
      if (Init->isDelegatingInitializer())
        return true;
      if (Init->isAnyMemberInitializer() && Init->getAnyMember() == Member &&
          Init->isWritten() && Init->getInit())
        if (holds(Init->getInit(), isRegistration))
          return true;
    }
    const auto *Body = dyn_cast_or_null<CompoundStmt>(Constructor->getBody());
    return Body && llvm::any_of(Body->body(), [&](const Stmt *S) {
             return registers(S, Member);
           });
  };
  bool Result = InClass();
  if (!Result) {
    unsigned Seen = 0;
    Result = true;
    for (const CXXConstructorDecl *Constructor : Class->ctors()) {
      if (Constructor->isImplicit() || Constructor->isDeleted() ||
          Constructor->isCopyOrMoveConstructor())
        continue;
      const auto *Body = dyn_cast_or_null<CXXConstructorDecl>(
          Functions.definition(Constructor));
      Result &= Body && IsRegisteredIn(Body);
      ++Seen;
    }
    Result &= Seen > 0;
  }
  return Registered[Member] = Result;
}

/// Of a member of a module: a weight of a layer, what the class registers.
uint8_t Interpreter::initiallyRegistered(PlaceId P) {
  if (Places.isRoot(P) || Places.step(P).Of != Step::Field)
    return 0;
  const FieldDecl *Member = Places.step(P).Member;
  const auto *Class = dyn_cast<CXXRecordDecl>(Member->getParent());
  if (!Class || torch::kindOf(Class) != TypeKind::Module)
    return 0;
  if (torch::isLibTorch(Class))
    return torch::isTensor(Member->getType()) ? registered::Yes : 0;
  // Its constructors are still at it.
  for (const Frame *Active = F; Active; Active = Active->Caller)
    if (const auto *Constructor =
            dyn_cast<CXXConstructorDecl>(Active->Function);
        Constructor &&
        torch::kindOf(Constructor->getParent()) == TypeKind::Module)
      return 0;
  return Program.isRegistered(Member) ? registered::Yes : 0;
}

void Interpreter::markFresh(PlaceId P) {
  S->Places[P].Registered = registered::No;
}

void Interpreter::registered(const CallExpr *Call, const Expr *Object,
                             const Expr *What) {
  const Denotation D = denote(What);
  Event E;
  E.Kind = EventKind::Register;
  E.Site = Call;
  E.Operand = What;
  E.Places = D.Objects;
  E.Result = deepValue(What);
  E.Input.Refs = Object ? identity(Object) : thisObject();
  emit(std::move(E));
  PlaceSet Named = D.Objects;
  insert(Named, pointees(D.Objects));
  for (PlaceId P : Named) {
    Value V = load(P);
    V.Registered = registered::Yes;
    S->Places[P] = std::move(V);
  }
}

/// The tensors, and what holds some, that an optimizer is given.
static void collectTensors(const Expr *E,
                           llvm::SmallVectorImpl<const Expr *> &Result,
                           unsigned Depth = 0) {
  E = E ? strip(E) : nullptr;
  if (!E || Depth > 12 || isa<LambdaExpr, CXXDefaultArgExpr>(E))
    return;
  const bool IsNamed = isa<DeclRefExpr, MemberExpr, CallExpr>(E);
  if (IsNamed && torch::mayHoldTensor(E->getType()))
    Result.push_back(E);
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    // std::vector<Tensor> weights = {a, b};
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    if (V && V->hasLocalStorage() && V->getInit() && !isa<ParmVarDecl>(V) &&
        !torch::isTensor(V->getType()) && Depth < 4)
      collectTensors(V->getInit(), Result, Depth + 1);
    return;
  }
  if (IsNamed)
    return;
  for (const Stmt *Child : E->children())
    if (const auto *Part = dyn_cast_or_null<Expr>(Child))
      collectTensors(Part, Result, Depth + 1);
}

void Interpreter::train(const Expr *Site, const PlaceSet &Optimizers,
                        const Expr *Given) {
  if (!Record)
    return;
  llvm::SmallVector<const Expr *, 8> Tensors;
  collectTensors(Given, Tensors);
  for (const Expr *Tensor : Tensors) {
    Event E;
    E.Kind = EventKind::Train;
    E.Site = Site;
    E.Operand = Tensor;
    E.Places = Optimizers;
    E.Result = deepValue(Tensor);
    emit(std::move(E));
  }
}

bool Interpreter::mentions(const Stmt *S, const PlaceSet &Targets) {
  if (!S)
    return false;
  if (const auto *E = dyn_cast<Expr>(S); E && isa<DeclRefExpr, MemberExpr>(E))
    for (PlaceId P : denote(E).Objects)
      if (llvm::is_contained(Targets, P))
        return true;
  return llvm::any_of(S->children(), [&](const Stmt *Child) {
    return mentions(Child, Targets);
  });
}

/// The function declares a guard: what it computes is to have no graph.
static bool declaresGuard(const FunctionDecl *F) {
  return holds(F->getBody(), [](const Stmt *Part) {
    const auto *Declared = dyn_cast<DeclStmt>(Part);
    return Declared && llvm::any_of(Declared->decls(), [](const Decl *D) {
             const auto *V = dyn_cast<VarDecl>(D);
             const TypeKind Kind =
                 V ? torch::kindOf(V->getType()) : TypeKind::Other;
             return Kind == TypeKind::NoGradGuard ||
                    Kind == TypeKind::GradModeGuard;
           });
  });
}

/// One of the constructors registers it.
static bool mayBeRegistered(const FieldDecl *Member,
                            const flow::UserFunctions &Functions) {
  const auto *Class = dyn_cast<CXXRecordDecl>(Member->getParent());
  return Class && llvm::any_of(Class->ctors(), [&](const auto *Constructor) {
           const FunctionDecl *Body = Functions.definition(Constructor);
           return Body && holds(Body->getBody(), [&](const Stmt *S) {
                    return registers(S, Member);
                  });
         });
}

/// Something in it requires a gradient, or is a member that the class
/// registers, if not in the constructor that has been seen.
bool Interpreter::readsTrained(const Expr *From) {
  return holds(From, [&](const Stmt *Part) {
    if (!isa<DeclRefExpr, MemberExpr>(Part))
      return false;
    if (const auto *Member = dyn_cast<MemberExpr>(Part))
      if (const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
          Field && torch::isTensor(Field->getType()) &&
          (Program.isRegistered(Field) ||
           mayBeRegistered(Field, Program.functions())))
        return true;
    return llvm::any_of(denote(cast<Expr>(Part)).Objects,
                        [&](PlaceId P) { return load(P).needsGrad(); });
  });
}

void Interpreter::replaceEvent(const Expr *Site, const Expr *To,
                               const PlaceSet &Targets, const Expr *From,
                               const Value &V) {
  if (!Record || Targets.size() != 1 || Places.isRoot(Targets.front()) ||
      Places.step(Targets.front()).Of != Step::Field)
    return;
  const PlaceId P = Targets.front();
  const auto *Class =
      dyn_cast<CXXRecordDecl>(Places.step(P).Member->getParent());
  if (!Class || torch::kindOf(Class) != TypeKind::Module)
    return;
  const Value Held = load(P);
  const Denotation Source = denote(From);
  uint8_t New = Source.Own.Registered;
  for (PlaceId Object : Source.Objects)
    New |= load(Object).Registered;
  if (Held.Registered != registered::Yes || New != registered::No)
    return;
  // A weight that is computed from others is trained through them, be it that
  // this caller has turned grad mode off.
  const bool IsTensor = torch::isTensor(To->getType());
  if (IsTensor && !mentions(From, Targets) &&
      ((V.History & history::Graph) ||
       (V.mayHaveHistory() && Held.needsGrad()) ||
       (Held.needsGrad() && !declaresGuard(F->Function) && readsTrained(From))))
    return;
  Event E;
  E.Kind = EventKind::Replace;
  E.Site = Site;
  E.Operand = To;
  E.Places = Targets;
  E.Input = Held;
  E.Result = V;
  emit(std::move(E));
}

} // namespace torchtidy::model
