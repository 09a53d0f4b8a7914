#ifndef TORCHTIDY_TRANSFER_TIMINGWITHOUTSYNCCHECK_H
#define TORCHTIDY_TRANSFER_TIMINGWITHOUTSYNCCHECK_H

#include "TorchCheck.h"

namespace torchtidy::checks {

class TimingWithoutSyncCheck : public TorchCheck {
public:
  using TorchCheck::TorchCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
