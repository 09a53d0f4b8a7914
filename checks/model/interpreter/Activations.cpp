#include "model/interpreter/Activations.h"
#include "ast/Expressions.h"
#include "model/domains/device/Transfer.h"
#include "model/domains/history/Transfer.h"
#include "model/domains/loans/Transfer.h"
#include "model/domains/modes/Transfer.h"
#include "model/interpreter/Statements.h"
#include "model/semantics/Autocast.h"
#include "model/semantics/GradMode.h"
#include "torch/Devices.h"
#include "torch/Types.h"
#include <set>

using namespace clang;

namespace torchtidy::model {

/// The entry begins. Members are what the constructor made of them, or what an
/// earlier call did.
static void enterRoot(Machine &M) {
  if (M.graph().root().Function->isMain())
    gradmode::enterProgram(M);
  const PlaceTable &Places = M.places();
  for (auto &[P, V] : M.state().Places) {
    // Members, and what the constructor made for one that is a pointer.
    const Root Kind = Places.rootKind(P);
    if (Kind != Root::This && Kind != Root::Object)
      continue;
    if (V.History && Kind == Root::This)
      if (std::optional<OriginId> Entry = entryOrigin(M, P))
        V.addOrigin(*Entry);
    device::enterMethod(Places, P, V);
    modes::enterMethod(Places, P, V);
  }
}

/// What unseen modules of a Sequential make of what the one before them, or the
/// call, gives them.
static PlaceId madeByUnseen(Machine &M, const Frame *Callee) {
  const auto *Site = cast<CallExpr>(Callee->Site);
  LibraryCall Given(M, Site, ast::argumentsOf(Site));
  Given.IsForward = true;
  Value Made = resultOf(M, Given);
  Value Input;
  if (Callee->Link.Before)
    Input = M.deepLoad(M.returned(Callee->Link.Before));
  else
    for (const Value &Each : Given.Values)
      Input.join(Each);
  const bool HaveParameters =
      llvm::any_of(Callee->Link.Unseen, [](const CXXRecordDecl *Class) {
        return torch::parametersOf(Class) != torch::Parameters::None;
      });
  Made.History =
      recorded(M, {Input.History,
                   uint8_t(HaveParameters ? history::Leaf : history::None)});
  if (Made.mayHaveHistory()) {
    Made.takeOrigins(Input);
    Made.addOrigin(M.origin(Origin::Forward, Site));
  } else {
    Made.forgetGraph();
  }
  // One of the user's own may put it anywhere.
  if (!llvm::all_of(Callee->Link.Unseen, [](const CXXRecordDecl *Class) {
        return Class && torch::isLibTorch(Class);
      }))
    Made.setDevice(Placement::unknown());
  const PlaceId P = M.places().root(Root::Object, Callee->Id, Site);
  M.store(P, Made);
  return P;
}

/// What a module of a Sequential gets from those before it; nothing where it
/// gets the arguments of the call.
static std::optional<PlaceId> handedOn(Machine &M, const Frame *Callee) {
  const ChainLink &Link = Callee->Link;
  if (!Link.Module || (!Link.Before && Link.Unseen.empty()))
    return std::nullopt;
  return Link.Unseen.empty() ? M.returned(Link.Before)
                             : madeByUnseen(M, Callee);
}

/// Parameter I of the callee, which is at P, gets its argument.
static void bind(Machine &M, const Frame *Callee, unsigned I, PlaceId P) {
  const bool IsReference =
      Callee->Function->getParamDecl(I)->getType()->isReferenceType();
  if (I == 0)
    if (const std::optional<PlaceId> Given = handedOn(M, Callee)) {
      if (IsReference)
        M.store(P, Value::handle({*Given}));
      else
        M.copy(*Given, P);
      return;
    }
  if (I == 0 && Callee->Range) {
    Value Element = Value::handle(M.identity(Callee->Range));
    if (!IsReference)
      for (PlaceId Each : PlaceSet(Element.Refs))
        Element.join(M.load(Each));
    return M.store(P, Element);
  }
  const Expr *Argument =
      I < Callee->Arguments.size() ? Callee->Arguments[I] : nullptr;
  if (!Argument)
    return M.store(P, Value::withHistory(history::Unknown));
  // A default argument is no element of the caller: its constant is read.
  if (isa<CXXDefaultArgExpr>(Argument) &&
      torch::maySayDevice(Argument->getType())) {
    Denotation Default;
    Default.Own.setDevice(M.deepValue(ast::stripCopies(Argument)));
    if (Default.Own.saysDevice())
      return M.store(P, IsReference
                            ? Value::handle(M.temporary(Argument, Default))
                            : Default.Own);
  }
  if (IsReference)
    return M.store(P, Value::handle(referents(M, Argument)));
  // By value. A copy of a pointer, a handle or a tensor designates the same.
  M.storeDenoted(P, M.denote(Argument));
}

/// E is where the object at P was made, or names it.
static bool isMadeAt(const PlaceTable &Places, PlaceId P, const Expr *E) {
  if (!Places.isRoot(P)) {
    const auto *Member = dyn_cast<MemberExpr>(E);
    return Member && Places.step(P).Member == Member->getMemberDecl();
  }
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
    return Places.variable(P) == Ref->getDecl();
  return Places.key(P) == RootKey(E);
}

/// The object of a forward() that a Sequential or an AnyModule runs: the module
/// that was put in there, as far as the places tell such modules apart.
static PlaceSet heldObject(Machine &M, const Frame *Callee) {
  const PlaceTable &Places = M.places();
  const CXXRecordDecl *Class =
      cast<CXXMethodDecl>(Callee->Function)->getParent();
  const PlaceSet Around = M.identity(Callee->Object);
  PlaceSet OfClass, There, Others;
  for (PlaceId P : M.withParts(Around)) {
    const CXXRecordDecl *Is = torch::moduleClass(Places.knownType(P));
    if (!Is || (Is->getCanonicalDecl() != Class->getCanonicalDecl() &&
                !(Is->hasDefinition() && Is->isDerivedFrom(Class))))
      continue;
    insert(OfClass, P);
    if (isMadeAt(Places, P, Callee->Link.Module))
      insert(There, P);
  }
  for (PlaceId P : Around)
    insert(Others, M.places().part(P));
  return !There.empty() ? There : !OfClass.empty() ? OfClass : Others;
}

/// What `this` is in the callee.
static void bindReceiver(Machine &M, const Frame *Callee) {
  const PlaceId This = M.receiverOf(Callee);
  if (isa<CXXConstructorDecl>(Callee->Function)) {
    bool IsTemporary = false;
    PlaceSet Target;
    if (Callee->Site) {
      Target = M.constructionTarget(cast<Expr>(Callee->Site), IsTemporary);
      M.erase(Target);
    } else if (Callee->Constructed) {
      Target = M.variable(Callee->Constructed);
    } else {
      // The object that a root method works on.
      Target = {M.places().root(Root::This, 0, RootKey())};
    }
    M.store(This, Value::handle(Target));
  } else if (Callee->Destroyed) {
    M.store(This, Value::handle(M.variable(Callee->Destroyed)));
  } else if (Callee->Link.Module) {
    M.store(This, Value::handle(heldObject(M, Callee)));
  } else if (Callee->Object) {
    const Denotation D = M.denote(Callee->Object);
    M.store(This, Value::handle(M.pointees(D.Objects.empty()
                                               ? M.temporary(Callee->Object, D)
                                               : D.Objects)));
  }
}

/// Where a thread keeps the grad mode of the one that waits for it.
static PlaceId savedMode(Machine &M, const Frame *Thread) {
  return M.places().root(Root::Object, Thread->Id, cast<Expr>(Thread->Site));
}

/// The same of autocast.
static PlaceId savedAutocast(Machine &M, const Frame *Thread) {
  return M.places().index(savedMode(M, Thread), 1);
}

/// Clang leaves the initializers of members out of the constructors of a class
/// with an error in it: where these put a tensor is not known.
static void forgetDroppedInitializers(Machine &M, const Frame *Callee) {
  const auto *Made = dyn_cast<CXXConstructorDecl>(Callee->Function);
  if (!Made || Made->isDelegatingConstructor() ||
      !Made->getASTContext().getDiagnostics().hasErrorOccurred())
    return;
  const Machine::InFrame Inside(M, Callee);
  for (const FieldDecl *Field : Made->getParent()->fields()) {
    const auto IsOfField = [&](const CXXCtorInitializer *Init) {
      return Init->getAnyMember() == Field;
    };
    if (!Field->hasInClassInitializer() ||
        llvm::any_of(Made->inits(), IsOfField))
      continue;
    Value Unknown;
    Unknown.setDevice(Placement::unknown());
    for (PlaceId Object : M.thisObject())
      M.store(M.places().field(Object, Field), Unknown);
  }
}

void enter(Machine &M, const Frame *Callee) {
  if (!Callee->Caller) {
    if (Callee == &M.graph().root())
      enterRoot(M);
    return;
  }
  {
    Machine::InFrame Caller(M, Callee->Caller);
    for (unsigned I = 0; I < Callee->Function->getNumParams(); ++I) {
      const PlaceId P = M.places().root(Root::Local, Callee->Id,
                                        Callee->Function->getParamDecl(I));
      M.erase(P);
      loans::own(M, P);
      bind(M, Callee, I, P);
    }
    bindReceiver(M, Callee);
  }
  M.erase(M.returned(Callee));
  forgetDroppedInitializers(M, Callee);
  if (Callee->IsThread || Callee->IsSpread)
    gradmode::enterThread(M, savedMode(M, Callee), Callee->IsSpread);
  if (Callee->IsThread)
    autocast::enterThread(M, savedAutocast(M, Callee));
}

static void dropUnreachable(Machine &M, const Frame *Callee);

void leave(Machine &M, const Frame *Callee) {
  loans::endFrame(M, Callee);
  M.forgetKept(Callee);
  if (!Callee->Caller)
    return;
  if (Callee->IsThread || Callee->IsSpread)
    gradmode::leaveThread(M, savedMode(M, Callee));
  if (Callee->IsThread)
    autocast::leaveThread(M, savedAutocast(M, Callee));
  dropUnreachable(M, Callee);
}

/// What an expression made, and the module of a local holder: copies of the
/// holder have the same one.
static bool mayOutlive(const Machine &M, PlaceId RootPlace) {
  if (M.places().rootKind(RootPlace) == Root::Object)
    return true;
  return M.places().rootKind(RootPlace) == Root::Local &&
         torch::kindOf(M.places().typeOf(RootPlace)) ==
             torch::TypeKind::ModuleHolder;
}

/// The activation's own places end, and what is left of those that it began,
/// except what it returns and the objects that something else leads to.
static void dropUnreachable(Machine &M, const Frame *Callee) {
  auto IsOwn = [&](PlaceId RootPlace) {
    const unsigned Frame = M.places().frame(RootPlace);
    return Callee->Id <= Frame && Frame <= Callee->LastId &&
           (M.places().rootKind(RootPlace) == Root::Local ||
            M.places().rootKind(RootPlace) == Root::Receiver ||
            M.places().rootKind(RootPlace) == Root::Object);
  };
  std::map<PlaceId, llvm::SmallVector<PlaceId, 8>> Own;
  llvm::SmallVector<PlaceId, 16> Work;
  std::set<PlaceId> Kept;
  auto Keep = [&](const Value &V) {
    for (const PlaceSet *Leads : {&V.Refs, &V.ViewOf})
      for (PlaceId P : *Leads) {
        PlaceId RootPlace = M.places().rootOf(P);
        if (IsOwn(RootPlace) && mayOutlive(M, RootPlace) &&
            Kept.insert(RootPlace).second)
          Work.push_back(RootPlace);
      }
  };
  const PlaceId Result = M.returned(Callee);
  for (const auto &[P, V] : M.state().Places) {
    PlaceId RootPlace = M.places().rootOf(P);
    if (IsOwn(RootPlace) && RootPlace != Result)
      Own[RootPlace].push_back(P);
    else
      Keep(V);
  }
  while (!Work.empty()) {
    PlaceId RootPlace = Work.pop_back_val();
    auto It = Own.find(RootPlace);
    if (It == Own.end())
      continue;
    for (PlaceId P : It->second)
      Keep(M.state().Places[P]);
  }
  for (const auto &[RootPlace, Members] : Own)
    if (!Kept.count(RootPlace))
      for (PlaceId P : Members)
        M.state().Places.erase(P);
  // What is gone is not asked for again.
  auto IsGone = [&](PlaceId P) {
    const PlaceId RootPlace = M.places().rootOf(P);
    return IsOwn(RootPlace) && RootPlace != Result && !Kept.count(RootPlace);
  };
  for (PlaceSet *Set :
       {&M.state().GivenUp, &M.state().Reserved, &M.state().Temporaries})
    llvm::erase_if(*Set, IsGone);
}

} // namespace torchtidy::model
