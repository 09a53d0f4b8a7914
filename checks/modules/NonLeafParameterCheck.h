#ifndef TORCHTIDY_MODULES_NONLEAFPARAMETERCHECK_H
#define TORCHTIDY_MODULES_NONLEAFPARAMETERCHECK_H

#include "TorchCheck.h"

namespace torchtidy::checks {

class NonLeafParameterCheck : public TorchCheck {
public:
  using TorchCheck::TorchCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
