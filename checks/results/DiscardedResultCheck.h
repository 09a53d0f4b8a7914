#ifndef TORCHTIDY_RESULTS_DISCARDEDRESULTCHECK_H
#define TORCHTIDY_RESULTS_DISCARDEDRESULTCHECK_H

#include "TorchCheck.h"

namespace torchtidy::checks {

class DiscardedResultCheck : public TorchCheck {
public:
  using TorchCheck::TorchCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
