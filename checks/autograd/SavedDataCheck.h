#ifndef TORCHTIDY_AUTOGRAD_SAVEDDATACHECK_H
#define TORCHTIDY_AUTOGRAD_SAVEDDATACHECK_H

#include "TorchCheck.h"

namespace torchtidy::checks {

class SavedDataCheck : public TorchCheck {
public:
  using TorchCheck::TorchCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
