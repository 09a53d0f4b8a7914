#ifndef TORCHTIDY_MEMORY_CATINLOOPCHECK_H
#define TORCHTIDY_MEMORY_CATINLOOPCHECK_H

#include "StrictCheck.h"

namespace torchtidy::checks {

/// Options:
///   Minor (false): also speaks of what grows beside the passes of a network.
class CatInLoopCheck : public MinorCheck {
public:
  using MinorCheck::MinorCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
