#include "queries/graphs/TwoNetworks.h"
#include "queries/graphs/Training.h"

namespace torchtidy::model {

using Node = flow::Digraph::Node;

TwoNetworks::TwoNetworks(const Execution &Entry, const BackwardEvent &Backward,
                         const PlaceSet &Own, const PlaceSet &Theirs)
    : Entry(Entry), Backward(Backward), Own(Own), Theirs(Theirs) {
  assert(!Entry.mayAlias(Own, Theirs) && "two networks with a part in common");
  for (const ZeroGradEvent &Clearing : Entry.events<ZeroGradEvent>()) {
    if (mayClear(Entry, Clearing, Theirs))
      Cleared.insert(Clearing.Point);
    if (mayClear(Entry, Clearing, Own))
      OwnCleared.insert(Clearing.Point);
  }
  for (const CreateEvent &Create : Entry.events<CreateEvent>())
    if (begins(Entry, Create, Theirs))
      Cleared.insert(Create.Point);
}

bool TwoNetworks::reaches(Node To, const Nodes &Avoid) const {
  return model::reaches(Entry, Backward.Point, To, Avoid);
}

bool TwoNetworks::mayTrain(const StepEvent &Step,
                           const PlaceSet &Modules) const {
  const std::optional<PlaceSet> Owners = ownersOf(Entry, Step.Trained);
  return !Owners || Entry.mayAlias(*Owners, Modules);
}

bool TwoNetworks::trainsOnly(const StepEvent &Step, const PlaceSet &Modules,
                             const PlaceSet &NotThese) const {
  return !Step.HasClosure && mayTrain(Step, Modules) &&
         !mayTrain(Step, NotThese);
}

const StepEvent *TwoNetworks::ownStep() const {
  for (const StepEvent &Step : Entry.events<StepEvent>())
    if (trainsOnly(Step, Own, Theirs) && reaches(Step.Point, OwnCleared))
      return &Step;
  return nullptr;
}

bool TwoNetworks::hasOtherOptimizer() const {
  return llvm::any_of(Entry.events<StepEvent>(), [&](const StepEvent &Step) {
    return trainsOnly(Step, Theirs, Own);
  });
}

bool TwoNetworks::mayBeWanted() const {
  PlaceSet Concerned = Theirs;
  for (const StepEvent &Step : Entry.events<StepEvent>())
    if (mayTrain(Step, Theirs))
      insert(Concerned, Step.Optimizers);
  for (const ReadGradientEvent &Read : Entry.events<ReadGradientEvent>()) {
    const std::optional<PlaceSet> Owners = ownersOf(Entry, Read.Of);
    if ((!Owners || Entry.mayAlias(*Owners, Theirs)) &&
        reaches(Read.Point, Cleared))
      return true;
  }
  return llvm::any_of(Entry.events<EscapeEvent>(),
                      [&](const EscapeEvent &Escape) {
                        return Entry.mayAlias(Escape.Places, Concerned) &&
                               reaches(Escape.Point, Cleared);
                      });
}

Nodes TwoNetworks::backwardsOfTheirs() const {
  Nodes Result;
  for (const BackwardEvent &Other : Entry.events<BackwardEvent>())
    if (&Other != &Backward && goesThrough(Other, Theirs) &&
        goesThrough(Other, Own))
      Result.insert(Other.Point);
  return Result;
}

bool TwoNetworks::goesThrough(const BackwardEvent &Other,
                              const PlaceSet &Modules) const {
  return llvm::any_of(Entry.events<ForwardEvent>(),
                      [&](const ForwardEvent &Forward) {
                        return Other.Root.hasOrigin(Forward.Origin) &&
                               Entry.mayAlias(Forward.Parts, Modules);
                      });
}

Nodes TwoNetworks::ownSteps() const {
  Nodes Result;
  for (const StepEvent &Step : Entry.events<StepEvent>())
    if (trainsOnly(Step, Own, Theirs))
      Result.insert(Step.Point);
  return Result;
}

bool TwoNetworks::judge(const StepEvent *&Spoiled) const {
  const Nodes Backwards = backwardsOfTheirs();
  const Nodes OwnSteps = ownSteps();
  const auto With = [&](const Nodes &More) {
    Nodes Both = Cleared;
    Both.insert(More.begin(), More.end());
    return Both;
  };
  const bool AreCollected = llvm::any_of(
      Backwards, [&](Node N) { return reaches(N, With(OwnSteps)); });
  for (const StepEvent &Step : Entry.events<StepEvent>()) {
    if (!mayTrain(Step, Theirs) || !reaches(Step.Point, Cleared))
      continue;
    // Only where the one was trained first, and the other has gradients of
    // its own by then, was this loss not meant for it.
    if (AreCollected || !trainsOnly(Step, Theirs, Own) ||
        reaches(Step.Point, With(OwnSteps)) ||
        reaches(Step.Point, With(Backwards)))
      return false;
    Spoiled = &Step;
  }
  return true;
}

} // namespace torchtidy::model
