// Query: evaluations in a training loop that leave the module in eval mode.
#ifndef TORCHTIDY_TRAINING_EVALMODENOTRESTORED_H
#define TORCHTIDY_TRAINING_EVALMODENOTRESTORED_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// From eval() round a loop to a forward pass that trains the module, through
/// one that evaluates it, nothing sets it to train().
struct EvalModeNotRestored {
  const Execution *Entry = nullptr;
  const ModeChangeEvent *Eval = nullptr;
  const ForwardEvent *Evaluates = nullptr;
  const ForwardEvent *Trains = nullptr;
  /// The innermost loop with both.
  const flow::Loop *Around = nullptr;
  /// What is otherwise in eval mode: see queries/modes/ModeDependence.h.
  std::string Part;
  /// The body of the loop, where train() as its first statement mends it for
  /// certain. Null elsewhere.
  const clang::CompoundStmt *RestoreIn = nullptr;
};

/// Nothing is reported where no part of the module is known to depend on the
/// mode, where only a part of it is set to eval(), where it was in eval mode
/// before the loop, and where eval() is under a condition that does not say
/// "every so many": the last iteration is not followed by another. A train()
/// under a condition is taken to be meant, and what cannot be seen to restore.
std::vector<EvalModeNotRestored> evalModesNotRestored(Program &Program);

} // namespace torchtidy::model

#endif
