#include "memory/RetainGraphInLoop.h"
#include "flow/PathQuery.h"

using namespace clang;

namespace torchtidy::model {

using Node = flow::Digraph::Node;

namespace {

class RetainQuery {
public:
  RetainQuery(const Execution &Entry, const BackwardEvent &Backward,
              const flow::Loop &L)
      : Entry(Entry), Backward(Backward), Root(Backward.Root), L(L) {}

  bool isNeedless() const {
    return !Backward.HasInputs && Root.mayHaveGraph() && !Root.ManyOrigins &&
           // A part of it comes from the iteration before.
           !Root.hasOrigin(Backward.Origin) && !isUsedAgain() &&
           !isGivenAway() && !isKept() && (isStepped() || isOfTheIteration());
  }

private:
  /// What built the graph of the root has a part in V as well.
  bool shares(const Value &V) const {
    return V.ManyOrigins || llvm::any_of(V.Origins, [&](OriginId Id) {
             return Entry.origin(Id).isBuilder() && Root.hasOrigin(Id);
           });
  }

  bool isUsedAgain() const {
    return llvm::any_of(
        Entry.events<GraphUseEvent>(), [&](const GraphUseEvent &Use) {
          if (!Use.Root.mayHaveHistory())
            return false;
          return Use.Root.ManyOrigins || Use.Root.hasOrigin(Backward.Origin) ||
                 (isUnknown(Use.Root) && isUnknown(Root) && follows(Use));
        });
  }

  static bool isUnknown(const Value &V) { return V.History & history::Unknown; }

  /// In the same iteration.
  bool follows(const Event &Other) const {
    return flow::mayReach(
               Entry.points(), Backward.Point,
               [&](Node N) { return N == Other.Point; },
               [&](Node N) { return N == L.Header || !L.contains(N); })
        .has_value();
  }

  bool isGivenAway() const {
    return llvm::any_of(
        Entry.events<EscapeEvent>(), [&](const EscapeEvent &Escape) {
          const Value &Given = Escape.Given;
          return (Given.mayHaveGraph() && shares(Given)) ||
                 (Given.mayHaveHistory() && Given.hasOrigin(Backward.Origin));
        });
  }

  /// The graph lives on: with the caller, in an object from elsewhere, or in a
  /// list that outlives the iteration.
  bool isKept() const {
    const auto LivesOn = [&](const StoreEvent &Store) {
      return llvm::any_of(Store.Places, [&](PlaceId P) {
        return Entry.isFromOutside(P) || (Store.How != StoreKind::Rebind &&
                                          Store.How != StoreKind::InPlace &&
                                          Entry.outlives(P, L).value_or(true));
      });
    };
    return llvm::any_of(Entry.events<StoreEvent>(),
                        [&](const StoreEvent &Store) {
                          return shares(Store.Stored) && LivesOn(Store);
                        }) ||
           isReturned();
  }

  bool isReturned() const {
    const Frame &Whole = Entry.root();
    const PlaceTable &Places = Entry.places();
    return llvm::any_of(Places.all(), [&](PlaceId P) {
      return Places.isRoot(P) && Places.rootKind(P) == model::Root::Object &&
             Places.frame(P) == Whole.Id &&
             llvm::dyn_cast_if_present<const FunctionDecl *>(Places.key(P)) ==
                 Whole.Function &&
             shares(Entry.heldAtEnd(P));
    });
  }

  /// The weights are changed before the next backward(): it could not go
  /// through a graph from before.
  bool isStepped() const {
    return llvm::any_of(Entry.events<StepEvent>(), [&](const StepEvent &Step) {
      return L.contains(Step.Point);
    });
  }

  /// Nothing in it may have a graph from before the loop.
  bool isOfTheIteration() const {
    if (isUnknown(Root))
      return false;
    for (OriginId Id : Root.Origins)
      if (const Origin::Kind Of = Entry.origin(Id).Of;
          Of == Origin::Entry || Of == Origin::Member)
        return false;
    return llvm::none_of(
        Entry.events<ForwardEvent>(), [&](const ForwardEvent &Forward) {
          return Root.hasOrigin(Forward.Origin) && isUnknown(Forward.Input);
        });
  }

  const Execution &Entry;
  const BackwardEvent &Backward;
  const Value &Root;
  const flow::Loop &L;
};

} // namespace

std::vector<RetainGraphInLoop> retainsGraphInLoop(Program &Program) {
  std::vector<RetainGraphInLoop> Result;
  for (const Execution *Entry : Program.executionsThatCost())
    for (const BackwardEvent &Backward : Entry->events<BackwardEvent>()) {
      const auto Around = Entry->loopsAround(Backward.Point);
      if (Backward.Retain && !Around.empty() &&
          RetainQuery(*Entry, Backward, *Around.back()).isNeedless())
        Result.push_back({Entry, &Backward, Around.back()});
    }
  return Result;
}

} // namespace torchtidy::model
