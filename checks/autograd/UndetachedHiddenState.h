// Query: recurrent state, which an iteration computes from what the one before
// it has left, and which keeps its graph.
#ifndef TORCHTIDY_AUTOGRAD_UNDETACHEDHIDDENSTATE_H
#define TORCHTIDY_AUTOGRAD_UNDETACHEDHIDDENSTATE_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// A state that goes into the next optimisation step, or the next call, with
/// its graph.
struct CarriedState {
  enum Kind {
    /// The next backward() reaches nodes that this one has freed.
    Throws,
    /// The same with retain_graph: it goes through all iterations.
    Retained,
    /// No backward() goes through it.
    Grows,
  } Outcome = Grows;
  const Execution *Entry = nullptr;
  const StoreEvent *Store = nullptr;
  /// Stores of the same forward pass into other parts of the state (h and c).
  std::vector<const StoreEvent *> Others;
  PlaceId Place;
  /// Null: to the next call of the function.
  const flow::Loop *Around = nullptr;
  /// Null where none goes through it.
  const BackwardEvent *Backward = nullptr;
  /// The operation that built the graph, or null.
  const Origin *Built = nullptr;
};

/// Nothing is reported where the state is detached, made again or computed
/// under a guard on every path back, where time steps are backwarded as one
/// sequence, or where code that cannot be seen gets the state.
std::vector<CarriedState> carriedStates(Program &Program);

} // namespace torchtidy::model

#endif
