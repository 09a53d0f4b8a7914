// Queries about recurrent state: tensors that an iteration computes from what
// the one before it has left.
#ifndef TORCHTIDY_MODEL_RECURRENCE_H
#define TORCHTIDY_MODEL_RECURRENCE_H

#include "model/Program.h"

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
  } Outcome;
  const Execution *Way;
  const Event *Store;
  /// Stores of the same forward pass into other parts of the state (h and c).
  std::vector<const Event *> Others;
  PlaceId Place;
  /// Null: to the next call of the function.
  const flow::Loop *Around;
  /// Null where none goes through it.
  const Event *Backward;
  /// The operation that built the graph, or null.
  const Origin *Built;
};

/// Nothing is reported where the state is detached, made afresh or computed
/// under a guard on every way back, where time steps are backwarded as one
/// sequence, or where code that cannot be seen gets the state.
std::vector<CarriedState> carriedStates(Program &Program);

} // namespace torchtidy::model

#endif
