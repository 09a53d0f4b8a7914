#ifndef TORCHTIDY_RESULTS_SIZEOFDTYPECHECK_H
#define TORCHTIDY_RESULTS_SIZEOFDTYPECHECK_H

#include "TorchCheck.h"

namespace torchtidy::checks {

class SizeofDtypeCheck : public TorchCheck {
public:
  using TorchCheck::TorchCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
