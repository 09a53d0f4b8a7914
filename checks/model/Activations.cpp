// Activations of functions: what parameters are bound to, and what ends with
// them.
#include "model/Interpreter.h"
#include "torch/Types.h"
#include <set>

using namespace clang;

namespace torchtidy::model {

void Interpreter::visitEnter(const Frame *Callee) {
  if (!Callee->Caller) {
    // Members are what the constructor made of them, or what an earlier call
    // did.
    if (Callee == &Graph.root())
      for (auto &[P, V] : S->Places) {
        if (Places.rootKind(P) != Root::This)
          continue;
        if (V.History)
          if (std::optional<OriginId> Entry = entryOrigin(P))
            V.addOrigin(*Entry);
        if (V.OnDevice.get() && torch::isDevice(Places.typeOf(P)))
          V.OnDevice = Known<Device>::unknown();
      }
    return;
  }
  // The arguments are read in the caller.
  F = Callee->Caller;
  const FunctionDecl *Function = Callee->Function;
  for (unsigned I = 0; I < Function->getNumParams(); ++I) {
    const ParmVarDecl *Parameter = Function->getParamDecl(I);
    const Expr *Argument =
        I < Callee->Arguments.size() ? Callee->Arguments[I] : nullptr;
    PlaceId P = Places.root(Root::Local, Callee->Id, Parameter);
    erase(P);
    if (I == 0 && Callee->Range) {
      Value Element = Value::handle(identity(Callee->Range));
      if (!Parameter->getType()->isReferenceType())
        for (PlaceId Each : Element.Refs)
          Element.join(load(Each));
      store(P, Element);
      continue;
    }
    if (!Argument) {
      store(P, Value::withHistory(history::Unknown));
      continue;
    }
    Denotation D = denote(Argument);
    if (Parameter->getType()->isReferenceType()) {
      PlaceSet Objects = D.Objects.empty() ? temporary(Argument, D) : D.Objects;
      store(P, Value::handle(Objects));
    } else if (!D.Objects.empty()) {
      // By value. A copy of a pointer, a handle or a tensor designates the
      // same.
      for (PlaceId Object : D.Objects)
        copy(Object, P);
    } else {
      store(P, D.Own);
    }
  }
  PlaceId This = Places.root(Root::Object, Callee->Id, &Callee->Function);
  if (isa<CXXConstructorDecl>(Function)) {
    bool IsTemporary = false;
    PlaceSet Target;
    if (Callee->Site)
      Target = constructionTarget(cast<Expr>(Callee->Site), IsTemporary);
    else
      // The object that a root method works on.
      Target = {Places.root(Root::This, 0, nullptr)};
    for (PlaceId P : Target)
      if (Callee->Site)
        erase(P);
    store(This, Value::handle(Target));
  } else if (Callee->Destroyed) {
    store(This, Value::handle(variable(Callee->Destroyed)));
  } else if (Callee->Object) {
    Denotation D = denote(Callee->Object);
    PlaceSet Objects =
        D.Objects.empty() ? temporary(Callee->Object, D) : D.Objects;
    store(This, Value::handle(pointees(Objects)));
  }
  F = Callee;
  erase(returned(Callee));
  if (Callee->IsThread) {
    Value Saved;
    Saved.Mode = S->GradMode;
    store(Places.root(Root::Object, Callee->Id, Callee), Saved);
    // Grad mode is thread-local and starts at its default.
    S->GradMode = mode::On;
  }
}

void Interpreter::visitLeave(const Frame *Callee) {
  endFrame(Callee);
  if (!Callee->Caller)
    return;
  if (Callee->IsThread) {
    const PlaceId Saved = Places.root(Root::Object, Callee->Id, Callee);
    if (const Value *V = S->find(Saved))
      S->GradMode = V->Mode;
  }
  dropUnreachable(Callee);
}

/// The activation's own places end, except what it returns and the objects that
/// something else leads to.
void Interpreter::dropUnreachable(const Frame *Callee) {
  auto IsOwn = [&](PlaceId RootPlace) {
    return Places.frame(RootPlace) == Callee->Id &&
           (Places.rootKind(RootPlace) == Root::Local ||
            Places.rootKind(RootPlace) == Root::Object);
  };
  std::map<PlaceId, llvm::SmallVector<PlaceId, 8>> Own;
  llvm::SmallVector<PlaceId, 16> Work;
  std::set<PlaceId> Kept;
  auto Keep = [&](const Value &V) {
    for (const PlaceSet *Leads : {&V.Refs, &V.ViewOf})
      for (PlaceId P : *Leads) {
        PlaceId RootPlace = Places.rootOf(P);
        if (IsOwn(RootPlace) && Places.rootKind(RootPlace) == Root::Object &&
            Kept.insert(RootPlace).second)
          Work.push_back(RootPlace);
      }
  };
  const PlaceId Result = returned(Callee);
  for (const auto &[P, V] : S->Places) {
    PlaceId RootPlace = Places.rootOf(P);
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
      Keep(S->Places[P]);
  }
  for (const auto &[RootPlace, Members] : Own)
    if (!Kept.count(RootPlace))
      for (PlaceId P : Members)
        S->Places.erase(P);
}

} // namespace torchtidy::model
