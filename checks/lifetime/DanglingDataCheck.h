#ifndef TORCHTIDY_LIFETIME_DANGLINGDATACHECK_H
#define TORCHTIDY_LIFETIME_DANGLINGDATACHECK_H

#include "TorchCheck.h"

namespace torchtidy::checks {

class DanglingDataCheck : public TorchCheck {
public:
  using TorchCheck::TorchCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
