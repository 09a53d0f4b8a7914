#ifndef TORCHTIDY_TRAINING_OPTIMIZERINLOOPCHECK_H
#define TORCHTIDY_TRAINING_OPTIMIZERINLOOPCHECK_H

#include "TorchCheck.h"

namespace torchtidy::checks {

class OptimizerInLoopCheck : public TorchCheck {
public:
  using TorchCheck::TorchCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
