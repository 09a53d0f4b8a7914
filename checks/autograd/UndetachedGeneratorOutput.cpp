#include "autograd/UndetachedGeneratorOutput.h"
#include "ast/Expressions.h"
#include "queries/CallChains.h"
#include "queries/Paths.h"
#include "queries/Training.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model {

using Node = flow::Digraph::Node;

namespace {

/// One backward(), and one pass in its graph.
class PassQuery {
public:
  PassQuery(const Execution &Entry, const BackwardEvent &Backward,
            const ForwardEvent &Pass)
      : Entry(Entry), Backward(Backward), Pass(Pass) {}

  std::optional<UndetachedGeneratorOutput> run() {
    if (!isOfGraph() || !collectSources() ||
        Entry.mayAlias(Theirs, Pass.Parts) || isUsedOtherwise())
      return std::nullopt;
    collectBarriers();
    UndetachedGeneratorOutput Result;
    Result.Step = ownStep();
    if (!Result.Step || !hasOtherOptimizer() || mayBeWanted() ||
        !judgeSteps(Result.Spoiled))
      return std::nullopt;
    Result.Entry = &Entry;
    Result.Pass = &Pass;
    Result.Source = Source;
    Result.Backward = &Backward;
    Result.IsForThisOnly =
        !isGoneThroughOtherwise(Source->Origin) && !isGivenAway(Source->Origin);
    Result.In = Pass.In;
    Result.Site = Pass.Site;
    return Result;
  }

private:
  bool isOfGraph() const {
    return !Backward.HasInputs && !Backward.Root.ManyOrigins &&
           Backward.Root.hasOrigin(Pass.Origin) && !Pass.Modules.empty() &&
           !Pass.Input.ManyOrigins && Pass.Input.mayHaveGraph() &&
           Pass.Result.mayHaveGraph();
  }

  /// The passes that the input comes from. False where a part of its graph
  /// comes from elsewhere, or what goes into them may need a gradient.
  bool collectSources() {
    for (OriginId Id : Pass.Input.Origins) {
      const Origin &From = Entry.origin(Id);
      if (From.Of == Origin::Forward && !Entry.isInForward(From.In)) {
        if (!addSource(Id))
          return false;
      } else if (From.Of == Origin::Operation && !Entry.isInForward(From.In)) {
        return false;
      }
    }
    return Source && llvm::all_of(Pass.Input.Origins, [&](OriginId Id) {
             const Origin &From = Entry.origin(Id);
             return (From.Of != Origin::Entry && From.Of != Origin::Member) ||
                    Entry.mayAlias({From.Place}, Theirs);
           });
  }

  bool addSource(OriginId Id) {
    for (const ForwardEvent &Forward : Entry.events<ForwardEvent>()) {
      if (Forward.Origin != Id)
        continue;
      // Its parameters may be frozen, or it may run under a guard.
      if (Forward.Modules.empty() || (Forward.Input.History & history::Leaf) ||
          (Forward.Result.History & history::None))
        return false;
      insert(Theirs, Forward.Parts);
      Source = &Forward;
    }
    return true;
  }

  /// Another derivative goes through the pass: a penalty, the step of the
  /// other network; or somebody gets a graph that is retained.
  bool isUsedOtherwise() const {
    return isGoneThroughOtherwise(Pass.Origin) ||
           (Backward.RetainsGraph && isGivenAway(Pass.Origin));
  }

  bool isGoneThroughOtherwise(OriginId Id) const {
    return llvm::any_of(
        Entry.events<GraphUseEvent>(), [&](const GraphUseEvent &Use) {
          return &Use != &Backward &&
                 (Use.Root.ManyOrigins || Use.Root.hasOrigin(Id));
        });
  }

  bool isGivenAway(OriginId Id) const {
    return llvm::any_of(
        Entry.events<EscapeEvent>(),
        [&](const EscapeEvent &Escape) { return Escape.Given.hasOrigin(Id); });
  }

  /// Where the gradients of the two networks are gone.
  void collectBarriers() {
    for (const ZeroGradEvent &Clearing : Entry.events<ZeroGradEvent>()) {
      if (mayClear(Entry, Clearing, Theirs))
        Cleared.insert(Clearing.Point);
      if (mayClear(Entry, Clearing, Pass.Parts))
        OwnCleared.insert(Clearing.Point);
    }
    for (const CreateEvent &Create : Entry.events<CreateEvent>())
      if (begins(Entry, Create, Theirs))
        Cleared.insert(Create.Point);
  }

  /// From the backward() to there.
  bool reaches(Node To, const Nodes &Avoid) const {
    return model::reaches(Entry, Backward.Point, To, Avoid);
  }

  bool mayTrain(const StepEvent &Step, const PlaceSet &Modules) const {
    const std::optional<PlaceSet> Owners = ownersOf(Entry, Step.Trained);
    return !Owners || Entry.mayAlias(*Owners, Modules);
  }

  bool trainsOnly(const StepEvent &Step, const PlaceSet &Modules,
                  const PlaceSet &NotThese) const {
    return !Step.HasClosure && mayTrain(Step, Modules) &&
           !mayTrain(Step, NotThese);
  }

  const StepEvent *ownStep() const {
    for (const StepEvent &Step : Entry.events<StepEvent>())
      if (trainsOnly(Step, Pass.Parts, Theirs) &&
          reaches(Step.Point, OwnCleared))
        return &Step;
    return nullptr;
  }

  bool hasOtherOptimizer() const {
    return llvm::any_of(Entry.events<StepEvent>(), [&](const StepEvent &Step) {
      return trainsOnly(Step, Theirs, Pass.Parts);
    });
  }

  /// Somebody reads the gradients, or may do anything with the network, before
  /// they are cleared.
  bool mayBeWanted() const {
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

  /// A backward() of the other network's own: it goes through both, and its
  /// gradients are for the other.
  Nodes backwardsOfTheirs() const {
    Nodes Result;
    for (const BackwardEvent &Other : Entry.events<BackwardEvent>())
      if (&Other != &Backward && goesThrough(Other, Theirs) &&
          goesThrough(Other, Pass.Parts))
        Result.insert(Other.Point);
    return Result;
  }

  bool goesThrough(const BackwardEvent &Other, const PlaceSet &Modules) const {
    return llvm::any_of(Entry.events<ForwardEvent>(),
                        [&](const ForwardEvent &Forward) {
                          return Other.Root.hasOrigin(Forward.Origin) &&
                                 Entry.mayAlias(Forward.Parts, Modules);
                        });
  }

  Nodes ownSteps() const {
    Nodes Result;
    for (const StepEvent &Step : Entry.events<StepEvent>())
      if (trainsOnly(Step, Pass.Parts, Theirs))
        Result.insert(Step.Point);
    return Result;
  }

  /// False where a step of the other network's may be meant to use the
  /// gradients.
  bool judgeSteps(const StepEvent *&Spoiled) const {
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
      if (AreCollected || !trainsOnly(Step, Theirs, Pass.Parts) ||
          reaches(Step.Point, With(OwnSteps)) ||
          reaches(Step.Point, With(Backwards)))
        return false;
      Spoiled = &Step;
    }
    return true;
  }

  const Execution &Entry;
  const BackwardEvent &Backward;
  const ForwardEvent &Pass;
  const ForwardEvent *Source = nullptr;
  /// What the sources consist of.
  PlaceSet Theirs;
  Nodes Cleared, OwnCleared;
};

} // namespace

static const Expr *onlyTensor(const Expr *Site) {
  const auto *Call = dyn_cast<CallExpr>(Site);
  if (!Call)
    return nullptr;
  const auto Arguments = ast::argumentsOf(Call);
  return Arguments.size() == 1 && torch::isTensor(Arguments[0]->getType())
             ? Arguments[0]
             : nullptr;
}

/// Where the fact is told: in the activation that has made both passes, at a
/// call that leads to no pass for which nothing must be detached. False where
/// there is none.
static bool place(UndetachedGeneratorOutput &Found, const CallChains &Others) {
  while (Others.lead(Found.In, Found.Site) ||
         !Found.Source->In->isWithin(Found.In))
    if (!goToCaller(Found.In, Found.Site))
      return false;
  if (Found.Site == Found.Pass->Site)
    Found.Operand = onlyTensor(Found.Pass->Site);
  return true;
}

/// A pass over what another of these has made is not told of: that one is.
static bool isBehindAnother(const UndetachedGeneratorOutput &Found,
                            llvm::ArrayRef<UndetachedGeneratorOutput> All) {
  return llvm::any_of(All, [&](const UndetachedGeneratorOutput &Other) {
    return Other.Backward == Found.Backward && Other.Pass != Found.Pass &&
           Found.Pass->Input.hasOrigin(Other.Pass->Origin) &&
           !Other.Pass->Input.hasOrigin(Found.Pass->Origin);
  });
}

std::vector<UndetachedGeneratorOutput>
undetachedGeneratorOutputs(Program &Program) {
  std::vector<UndetachedGeneratorOutput> All;
  CallChains Others;
  for (const Execution *Entry : Program.executionsBesideTests())
    for (const ForwardEvent &Pass : Entry->events<ForwardEvent>()) {
      if (Entry->isInForward(Pass.In))
        continue;
      const size_t Before = All.size();
      for (const BackwardEvent &Backward : Entry->events<BackwardEvent>())
        if (auto Found = PassQuery(*Entry, Backward, Pass).run())
          All.push_back(*Found);
      if (All.size() == Before)
        Others.add(Pass);
    }
  std::vector<UndetachedGeneratorOutput> Result;
  for (UndetachedGeneratorOutput &Found : All)
    if (!isBehindAnother(Found, All) && place(Found, Others))
      Result.push_back(Found);
  return Result;
}

} // namespace torchtidy::model
