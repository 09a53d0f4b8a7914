#ifndef TORCHTIDY_TRAINING_AUTOCASTBOUNDARYCHECK_H
#define TORCHTIDY_TRAINING_AUTOCASTBOUNDARYCHECK_H

#include "TorchCheck.h"

namespace torchtidy::checks {

class AutocastBoundaryCheck : public TorchCheck {
public:
  using TorchCheck::TorchCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
