#ifndef TORCHTIDY_TRANSFER_REPEATEDTRANSFERCHECK_H
#define TORCHTIDY_TRANSFER_REPEATEDTRANSFERCHECK_H

#include "StrictCheck.h"

namespace torchtidy::checks {

/// Options:
///   Strict (false): also speaks of a tensor that may be there, or of that
///   type, already.
class RepeatedTransferCheck : public StrictCheck {
public:
  using StrictCheck::StrictCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
