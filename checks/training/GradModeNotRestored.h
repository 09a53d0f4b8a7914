// Query: grad mode that is switched off and still off when a network is
// trained.
#ifndef TORCHTIDY_TRAINING_GRADMODENOTRESTORED_H
#define TORCHTIDY_TRAINING_GRADMODENOTRESTORED_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// From where grad mode is switched off to a backward(), through what that
/// needs a graph of, nothing switches it on.
struct GradModeNotRestored {
  const Execution *Entry = nullptr;
  /// set_enabled(false), or the beginning of a guard that outlives the scope
  /// it is written in.
  const GradModeChangeEvent *Off = nullptr;
  /// The guard: a static variable, a member, or a pointer to one on the heap.
  /// Null for set_enabled().
  const clang::ValueDecl *Guard = nullptr;
  /// The forward pass, or operation, that is not recorded; null where nothing
  /// that is trained in the file ever is.
  const clang::Expr *Pass = nullptr;
  /// The backward(), or grad().
  const GraphUseEvent *Use = nullptr;
  /// What switches it on again on other paths of the same function. Null where
  /// there is none.
  const GradModeChangeEvent *Restores = nullptr;
};

/// Nothing is reported where either stands under a condition, or in a try, that
/// is not around the other as well, unless it says "every so many"; where a
/// condition decides whether grad mode is switched on; where a function that
/// cannot be seen may do so; for guards that are automatic variables; and in
/// constructors of classes that have a destructor of their own.
std::vector<GradModeNotRestored> gradModesNotRestored(Program &Program);

} // namespace torchtidy::model

#endif
