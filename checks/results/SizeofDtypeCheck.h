#ifndef TORCHTIDY_RESULTS_SIZEOFDTYPECHECK_H
#define TORCHTIDY_RESULTS_SIZEOFDTYPECHECK_H

#include "StrictCheck.h"

namespace torchtidy::checks {

/// Options:
///   Strict (false): also speaks of types whose elements have as many bytes as
///   the enumerator.
class SizeofDtypeCheck : public StrictCheck {
public:
  using StrictCheck::StrictCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
