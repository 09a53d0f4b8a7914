#ifndef TORCHTIDY_MEMORY_RETAINEDGRAPHCHECK_H
#define TORCHTIDY_MEMORY_RETAINEDGRAPHCHECK_H

#include "StrictCheck.h"

namespace torchtidy::checks {

/// Options:
///   Strict (false): also speaks of a place that is overwritten where a
///   backward() has gone through the graph, so that its nodes alone are kept.
class RetainedGraphCheck : public StrictCheck {
public:
  using StrictCheck::StrictCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
