// Query: optimizer steps that apply gradients of earlier iterations again.
#ifndef TORCHTIDY_TRAINING_MISSINGZEROGRAD_H
#define TORCHTIDY_TRAINING_MISSINGZEROGRAD_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// A step() that applies gradients of earlier iterations again: from the step
/// round a loop to a backward() and to the step, nothing clears them.
struct UnclearedStep {
  const Execution *Entry = nullptr;
  const StepEvent *Step = nullptr;
  const BackwardEvent *Backward = nullptr;
  /// The innermost loop with both.
  const flow::Loop *Around = nullptr;
  /// They are cleared on another path.
  bool IsClearedElsewhere = false;
};

/// Clearing is seen through functions, members and handles, whether by
/// optimizer, module, submodule or gradient, wherever on the cycle. A clearing
/// that is written under a condition of its own is taken to be meant (every k
/// batches); one that a jump skips is not. What cannot be seen is taken to
/// clear.
std::vector<UnclearedStep> unclearedSteps(Program &Program);

} // namespace torchtidy::model

#endif
