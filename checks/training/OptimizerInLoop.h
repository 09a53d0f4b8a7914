// Query: optimizers that a training loop makes anew for each of its steps, or
// for each of its epochs.
#ifndef TORCHTIDY_TRAINING_OPTIMIZERINLOOP_H
#define TORCHTIDY_TRAINING_OPTIMIZERINLOOP_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// An optimizer with state that every iteration constructs: it has forgotten
/// the steps before when it makes its own.
struct OptimizerInLoop {
  const Execution *Entry = nullptr;
  /// Its construction.
  const CreateEvent *Create = nullptr;
  /// The one step that it makes, or, where it is made for an epoch, the one
  /// that it makes for each batch.
  const StepEvent *Step = nullptr;
  bool IsForEpoch = false;
  /// The innermost loop around both.
  const flow::Loop *Around = nullptr;
  /// The one before which it is to be made: Around, or the loop over epochs
  /// around that.
  const flow::Loop *Before = nullptr;
  /// torch::optim::Adam.
  clang::QualType Class;
  /// The variable or member that it is, or that owns it; null where it has no
  /// name.
  const clang::ValueDecl *Variable = nullptr;
  /// That is a variable whose declaration can stand before the loop.
  bool CanMove = false;
};

/// Reported where what it trains is known to be the same in every iteration.
/// Nothing is reported for what keeps no state (plain SGD), for optimizers that
/// make several steps (one for each epoch, fold or task), that a branch makes
/// (a restart that is meant), whose state, or whose parameters, the loop brings
/// from elsewhere (loads, copies, draws anew), or that code gets which cannot
/// be seen.
std::vector<OptimizerInLoop> optimizersInLoop(Program &Program);

} // namespace torchtidy::model

#endif
