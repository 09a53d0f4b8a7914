// FIXME(new-check): say in one sentence what is flagged; docs/checks/torch-allocation-in-loop.md
// opens with the same sentence.
#include "memory/AllocationInLoopCheck.h"
#include "model/Program.h"

namespace torchtidy::checks {

std::vector<model::Finding> AllocationInLoopCheck::analyze(model::Program &Program) {
  return {};
}

} // namespace torchtidy::checks
