#ifndef TORCHTIDY_TRANSFER_DEVICEMISMATCHCHECK_H
#define TORCHTIDY_TRANSFER_DEVICEMISMATCHCHECK_H

#include "TorchCheck.h"

namespace torchtidy::checks {

class DeviceMismatchCheck : public TorchCheck {
public:
  using TorchCheck::TorchCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
