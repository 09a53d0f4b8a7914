#ifndef TORCHTIDY_MEMORY_UNFUSEDOPERATIONCHECK_H
#define TORCHTIDY_MEMORY_UNFUSEDOPERATIONCHECK_H

#include "TorchCheck.h"

namespace torchtidy::checks {

class UnfusedOperationCheck : public TorchCheck {
public:
  using TorchCheck::TorchCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
