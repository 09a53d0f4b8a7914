#ifndef TORCHTIDY_MEMORY_ALLOCATIONINLOOPCHECK_H
#define TORCHTIDY_MEMORY_ALLOCATIONINLOOPCHECK_H

#include "StrictCheck.h"

namespace torchtidy::checks {

/// Options:
///   Minor (false): also speaks of what has no known size beside the passes of
///   a network.
///   Strict (false): also speaks of rows whose length nothing says, in loops
///   that do not train, and, where nothing is trained, of what has no known
///   size, stands beside passes or is made in a function that the loop calls.
class AllocationInLoopCheck : public GradedCheck {
public:
  using GradedCheck::GradedCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
