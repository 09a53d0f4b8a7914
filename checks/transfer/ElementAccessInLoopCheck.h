#ifndef TORCHTIDY_TRANSFER_ELEMENTACCESSINLOOPCHECK_H
#define TORCHTIDY_TRANSFER_ELEMENTACCESSINLOOPCHECK_H

#include "StrictCheck.h"

namespace torchtidy::checks {

/// Options:
///   Minor (false): also speaks of single loops whose length nothing says, on
///   the CPU.
///   Strict (false): also speaks of a loop that nothing repeats, of a nest of
///   loops that main runs once, of a loop beside the passes of a network on the
///   CPU, and of one that makes text.
class ElementAccessInLoopCheck : public GradedCheck {
public:
  using GradedCheck::GradedCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
