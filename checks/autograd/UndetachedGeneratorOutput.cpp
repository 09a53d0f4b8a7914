#include "autograd/UndetachedGeneratorOutput.h"
#include "ast/Expressions.h"
#include "queries/graphs/TwoNetworks.h"
#include "queries/paths/CallChains.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model {

namespace {

/// One backward(), and one pass in its graph.
class GeneratedPassQuery {
public:
  GeneratedPassQuery(const Execution &Entry, const BackwardEvent &Backward,
                     const ForwardEvent &Pass)
      : Entry(Entry), Backward(Backward), Pass(Pass) {}

  std::optional<UndetachedGeneratorOutput> run() {
    if (!isOfGraph() || !collectSources() ||
        Entry.mayAlias(Theirs, Pass.Parts) || isUsedOtherwise())
      return std::nullopt;
    const TwoNetworks Steps(Entry, Backward, Pass.Parts, Theirs);
    UndetachedGeneratorOutput Result;
    Result.Step = Steps.ownStep();
    if (!Result.Step || !Steps.hasOtherOptimizer() || Steps.mayBeWanted() ||
        !Steps.judge(Result.Spoiled))
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

  const Execution &Entry;
  const BackwardEvent &Backward;
  const ForwardEvent &Pass;
  const ForwardEvent *Source = nullptr;
  /// What the sources consist of.
  PlaceSet Theirs;
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
  if (!Others.goToOwnCall(Found.In, Found.Site, [&](const Frame *In) {
        return Found.Source->In->isWithin(In);
      }))
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
  // By the pass, as it is written: what runs beside it in the same activation
  // says nothing about the calls that lead to it.
  llvm::DenseMap<const Stmt *, CallChains> Others;
  for (const Execution *Entry : Program.executionsThatCost())
    for (const ForwardEvent &Pass : Entry->events<ForwardEvent>()) {
      if (Entry->isInForward(Pass.In))
        continue;
      const size_t Before = All.size();
      for (const BackwardEvent &Backward : Entry->events<BackwardEvent>())
        if (auto Found = GeneratedPassQuery(*Entry, Backward, Pass).run())
          All.push_back(*Found);
      if (All.size() == Before)
        Others[Pass.Site].add(Pass);
    }
  std::vector<UndetachedGeneratorOutput> Result;
  for (UndetachedGeneratorOutput &Found : All)
    if (!isBehindAnother(Found, All) && place(Found, Others[Found.Pass->Site]))
      Result.push_back(Found);
  return Result;
}

} // namespace torchtidy::model
