#ifndef TORCHTIDY_TRANSFER_ELEMENTACCESSINLOOPCHECK_H
#define TORCHTIDY_TRANSFER_ELEMENTACCESSINLOOPCHECK_H

#include "TorchCheck.h"

namespace torchtidy::checks {

class ElementAccessInLoopCheck : public TorchCheck {
public:
  using TorchCheck::TorchCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
