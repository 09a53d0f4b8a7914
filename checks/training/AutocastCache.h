// Query: weights that are trained while autocast keeps copies of them.
#ifndef TORCHTIDY_TRAINING_AUTOCASTCACHE_H
#define TORCHTIDY_TRAINING_AUTOCASTCACHE_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// From where autocast casts weights to where it needs them again, through a
/// step that changes them, nothing empties its cache.
struct AutocastCache {
  const Execution *Entry = nullptr;
  const StepEvent *Step = nullptr;
  const AutocastEvent *On = nullptr;
  /// What computes with the copy of before.
  const CastEvent *Stale = nullptr;
};

/// The first such weights of each step. Nothing is reported where a condition
/// decides whether the cache is emptied, or where one that is not around the
/// other decides about autocast, the step or the pass; where a function that
/// cannot be seen may empty it; where the cache is switched off anywhere in the
/// file; and where the guard class that switches autocast empties it at its
/// end.
std::vector<AutocastCache> autocastCaches(Program &Program);

} // namespace torchtidy::model

#endif
