#include "queries/modes/InheritedMode.h"
#include "flow/PathQuery.h"

namespace torchtidy::model {

const BackwardEvent *backwardBeside(const Execution &Entry, const Event &E) {
  for (const BackwardEvent &Backward : Entry.events<BackwardEvent>()) {
    const Value &Root = Backward.Root;
    // Unknown is allowed: whatever else goes into the root, it has a graph.
    if (Backward.GradMode != E.GradMode || !Root.mayHaveGraph() ||
        (Root.History & (history::None | history::Leaf)))
      continue;
    const bool IsRecordedHere = llvm::any_of(Root.Origins, [&](OriginId Id) {
      return Entry.origin(Id).isBuilder();
    });
    if (IsRecordedHere &&
        (Entry.comesBefore(Backward.Point, E.Point) ||
         flow::mustReach(
             Entry.points(), E.Point,
             [&](flow::Digraph::Node N) { return N == Backward.Point; },
             [](flow::Digraph::Node) { return false; })))
      return &Backward;
  }
  return nullptr;
}

} // namespace torchtidy::model
