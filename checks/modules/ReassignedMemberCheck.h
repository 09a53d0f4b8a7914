#ifndef TORCHTIDY_MODULES_REASSIGNEDMEMBERCHECK_H
#define TORCHTIDY_MODULES_REASSIGNEDMEMBERCHECK_H

#include "TorchCheck.h"

namespace torchtidy::checks {

class ReassignedMemberCheck : public TorchCheck {
public:
  using TorchCheck::TorchCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
