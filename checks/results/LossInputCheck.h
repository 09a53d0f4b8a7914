#ifndef TORCHTIDY_RESULTS_LOSSINPUTCHECK_H
#define TORCHTIDY_RESULTS_LOSSINPUTCHECK_H

#include "TorchCheck.h"

namespace torchtidy::checks {

class LossInputCheck : public TorchCheck {
public:
  using TorchCheck::TorchCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
