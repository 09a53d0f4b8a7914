// Query: what autocast has made in half precision, where that is refused.
#ifndef TORCHTIDY_TRAINING_AUTOCASTBOUNDARY_H
#define TORCHTIDY_TRAINING_AUTOCASTBOUNDARY_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// The result of an operation under autocast leaves it, and what it meets then
/// throws.
struct AutocastBoundary {
  const Execution *Entry = nullptr;
  const HalfUseEvent *Use = nullptr;
  /// The backward() that throws, where it is not the use itself.
  const BackwardEvent *Backward = nullptr;
  /// What switches autocast on, where it is a flag and that is seen.
  const AutocastEvent *ByFlag = nullptr;
};

/// Nothing is reported where autocast may be off, but for a flag of the
/// program's own, or on where the result is used, on some path; where a module,
/// or autocast, is given another type; and of losses whose target may be in
/// half precision, too.
std::vector<AutocastBoundary> autocastBoundaries(Program &Program);

} // namespace torchtidy::model

#endif
