#ifndef TORCHTIDY_AUTOGRAD_INFERENCETENSORCHECK_H
#define TORCHTIDY_AUTOGRAD_INFERENCETENSORCHECK_H

#include "TorchCheck.h"

namespace torchtidy::checks {

class InferenceTensorCheck : public TorchCheck {
public:
  using TorchCheck::TorchCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
