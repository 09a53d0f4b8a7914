// Queries about gradients: where they are added, cleared and applied.
#ifndef TORCHTIDY_MODEL_GRADIENTS_H
#define TORCHTIDY_MODEL_GRADIENTS_H

#include "model/Execution.h"

namespace torchtidy::model {

/// A step() that applies gradients of earlier iterations again: from the step
/// round a loop to a backward() and to the step, nothing clears them.
struct UnclearedStep {
  const Event *Step;
  const Event *Backward;
  /// The innermost loop with both.
  const flow::Loop *Around;
  /// They are cleared on another path.
  bool IsClearedElsewhere;
};

/// Clearing is seen through functions, members and handles, whether by
/// optimizer, module, submodule or gradient, wherever on the cycle. A clearing
/// that is written under a condition of its own is taken to be meant (every k
/// batches); one that a jump skips is not. What cannot be seen is taken to
/// clear.
std::vector<UnclearedStep> unclearedSteps(const Execution &Way);

} // namespace torchtidy::model

#endif
