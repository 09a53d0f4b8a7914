#ifndef TORCHTIDY_LIFETIME_BLOBLIFETIMECHECK_H
#define TORCHTIDY_LIFETIME_BLOBLIFETIMECHECK_H

#include "TorchCheck.h"

namespace torchtidy::checks {

class BlobLifetimeCheck : public TorchCheck {
public:
  using TorchCheck::TorchCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
