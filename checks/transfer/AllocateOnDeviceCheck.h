#ifndef TORCHTIDY_TRANSFER_ALLOCATEONDEVICECHECK_H
#define TORCHTIDY_TRANSFER_ALLOCATEONDEVICECHECK_H

#include "StrictCheck.h"

namespace torchtidy::checks {

/// Options:
///   Strict (false): also speaks of what nothing in the file repeats.
class AllocateOnDeviceCheck : public StrictCheck {
public:
  using StrictCheck::StrictCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
