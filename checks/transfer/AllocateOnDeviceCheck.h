#ifndef TORCHTIDY_TRANSFER_ALLOCATEONDEVICECHECK_H
#define TORCHTIDY_TRANSFER_ALLOCATEONDEVICECHECK_H

#include "StrictCheck.h"

namespace torchtidy::checks {

/// Options:
///   Minor (false): also speaks of what is known to be small, and of what
///   stands beside a loop that waits.
///   Strict (false): also speaks of what nothing in the file repeats.
class AllocateOnDeviceCheck : public GradedCheck {
public:
  using GradedCheck::GradedCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
