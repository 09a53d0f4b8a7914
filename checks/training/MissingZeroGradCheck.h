// Finds optimizer steps in a loop whose gradients nothing clears between
// iterations, so that every step applies the sum of the gradients so far.
//
// docs/checks/torch-missing-zero-grad.md
#ifndef TORCHTIDY_TRAINING_MISSINGZEROGRADCHECK_H
#define TORCHTIDY_TRAINING_MISSINGZEROGRADCHECK_H

#include "TorchCheck.h"

namespace torchtidy::checks {

class MissingZeroGradCheck : public TorchCheck {
public:
  using TorchCheck::TorchCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
