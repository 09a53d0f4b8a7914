// Calls of code that is not seen and that may train there.
#ifndef TORCHTIDY_QUERIES_GRAPHS_UNSEENTRAINING_H
#define TORCHTIDY_QUERIES_GRAPHS_UNSEENTRAINING_H

#include "model/execution/Execution.h"
#include "queries/paths/Calls.h"

namespace torchtidy::model {

/// Whether a backward() may run in a call: under a guard it would throw.
enum class UnseenTraining {
  /// All of it is seen, it is no code of the user's, or it has nothing to train
  /// with.
  None,
  /// It gets tensors or an object of some class that others may derive from:
  /// most such calls only read.
  Unlikely,
  /// It gets a module, an optimizer or what leads to one, or the result of a
  /// forward pass that has a graph, or it gets and returns nothing, so that
  /// what it does is all that it is called for.
  Likely,
};

struct UnseenCall {
  CallAt At;
  UnseenTraining Trains = UnseenTraining::None;
};

/// Those of an entry that are not None, in the order of the points. A forward
/// pass is none of them.
std::vector<UnseenCall> unseenTraining(const Execution &Entry);

} // namespace torchtidy::model

#endif
