#ifndef TORCHTIDY_TRANSFER_SYNCINLOOPCHECK_H
#define TORCHTIDY_TRANSFER_SYNCINLOOPCHECK_H

#include "TorchCheck.h"

namespace torchtidy::checks {

class SyncInLoopCheck : public TorchCheck {
public:
  using TorchCheck::TorchCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
