#ifndef TORCHTIDY_TRANSFER_REDUNDANTTRANSFERCHECK_H
#define TORCHTIDY_TRANSFER_REDUNDANTTRANSFERCHECK_H

#include "TorchCheck.h"

namespace torchtidy::checks {

class RedundantTransferCheck : public TorchCheck {
public:
  using TorchCheck::TorchCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
