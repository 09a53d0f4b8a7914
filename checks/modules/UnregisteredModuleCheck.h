#ifndef TORCHTIDY_MODULES_UNREGISTEREDMODULECHECK_H
#define TORCHTIDY_MODULES_UNREGISTEREDMODULECHECK_H

#include "TorchCheck.h"

namespace torchtidy::checks {

class UnregisteredModuleCheck : public TorchCheck {
public:
  using TorchCheck::TorchCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
