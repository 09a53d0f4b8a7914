#ifndef TORCHTIDY_AUTOGRAD_MISSINGNOGRADCHECK_H
#define TORCHTIDY_AUTOGRAD_MISSINGNOGRADCHECK_H

#include "StrictCheck.h"

namespace torchtidy::checks {

/// Options:
///   Strict (false): also speaks where nothing in the file shows that a forward
///   pass is evaluation and its callers lie elsewhere.
class MissingNoGradCheck : public StrictCheck {
public:
  using StrictCheck::StrictCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
