// Modules and what they consist of: members, and modules that others share with
// them (elements of a Sequential, arguments of a constructor).
#include "model/machine/Machine.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model {

PlaceSet Machine::parts(PlaceId Module) {
  const PlaceId All = Places.part(Module);
  const Value *Held = Now.find(All);
  return Held && !Held->Refs.empty() ? Held->Refs : PlaceSet{All};
}

void Machine::setParts(PlaceId Module, const PlaceSet &Given, bool IsWhole) {
  const PlaceId All = Places.part(Module);
  Value Held = Value::handle(Given);
  if (!IsWhole)
    insert(Held.Refs, All);
  Now.Places[All] = std::move(Held);
}

void Machine::addParts(PlaceId Module, const PlaceSet &Added) {
  const PlaceId All = Places.part(Module);
  // What it had before is not known.
  if (!Now.find(All))
    setParts(Module, {}, /*IsWhole=*/false);
  for (PlaceId P : Added)
    if (!Places.isWithin(P, Module))
      insert(Now.Places[All].Refs, P);
}

/// A module or a tensor, or what may be one.
static bool mayBePart(const PlaceTable &Places, PlaceId P) {
  const QualType Type = Places.knownType(P);
  return Type.isNull() || torch::isTensor(Type) || torch::isModule(Type) ||
         torch::moduleClass(Type);
}

PlaceSet Machine::withParts(const PlaceSet &Modules) {
  PlaceSet Result = Modules;
  llvm::SmallVector<PlaceId, 16> Work(Modules.begin(), Modules.end());
  auto Add = [&](PlaceId P) {
    P = Places.owner(P);
    if (llvm::is_contained(Result, P) || !mayBePart(Places, P))
      return;
    insert(Result, P);
    Work.push_back(P);
  };
  while (!Work.empty()) {
    const PlaceId Next = Work.pop_back_val();
    if (const Value *Held = Now.find(Next))
      llvm::for_each(PlaceSet(Held->Refs), Add);
    for (PlaceId Child : Places.children(Next)) {
      const Step::Kind Kind = Places.step(Child).Of;
      if (Kind != Step::Parameters && Kind != Step::Gradient)
        Work.push_back(Child);
    }
  }
  return Result;
}

PlaceId Machine::parametersOf(PlaceId Part) {
  const QualType Type = Places.typeOf(Part);
  return !Type.isNull() && torch::isTensor(Type) ? Part
                                                 : Places.parameters(Part);
}

PlaceSet Machine::modulesIn(const Expr *E) {
  if (!E || !torch::mayHoldTensor(E->getType()))
    return {};
  const bool IsModule =
      torch::isModule(E->getType()) || torch::moduleClass(E->getType());
  PlaceSet Result;
  for (PlaceId P : IsModule ? identity(E) : pointees(deepValue(E).Refs))
    if (!Places.hasStep(P, Step::Parameters) && mayBePart(Places, P))
      insert(Result, P);
  return Result;
}

/// What was said of all parameters of Module, or of a module around it.
static std::optional<uint8_t> statedTrainability(const Machine &M,
                                                 PlaceId Module) {
  const PlaceTable &Places = M.places();
  for (PlaceId Around = Module;; Around = Places.parent(Around)) {
    for (PlaceId Child : Places.children(Around))
      if (Places.step(Child).Of == Step::Parameters)
        if (const Value *V = M.state().find(Child))
          return V->History & (history::None | history::Leaf);
    if (Places.isRoot(Around))
      return std::nullopt;
  }
}

uint8_t Machine::trainability(PlaceId Module) {
  // Freezing a network freezes the layers in it.
  if (std::optional<uint8_t> Stated = statedTrainability(*this, Module))
    return *Stated;
  // One that consists of frozen parts alone is frozen.
  const Value *Held = Now.find(Places.part(Module));
  if (!Held || Held->Refs.empty())
    return history::Leaf;
  uint8_t Result = 0;
  for (PlaceId P : Held->Refs)
    Result |= statedTrainability(*this, P).value_or(history::Leaf);
  return Result & history::Leaf ? uint8_t(history::Leaf) : Result;
}

uint8_t Machine::moduleMode(PlaceId Module) {
  for (PlaceId Around = Module;; Around = Places.parent(Around)) {
    if (const Value *V = Now.find(Around))
      if (V->Mode)
        return V->Mode;
    if (Places.isRoot(Around))
      return isFromOutside(Module) ? mode::Inherited : mode::On;
  }
}

} // namespace torchtidy::model
