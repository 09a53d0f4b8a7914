// FIXME(new-check): say in one sentence what is flagged; docs/checks/torch-undetached-hidden-state.md
// opens with the same sentence.
#include "autograd/UndetachedHiddenStateCheck.h"
#include "model/Program.h"

namespace torchtidy::checks {

std::vector<model::Finding> UndetachedHiddenStateCheck::analyze(model::Program &Program) {
  return {};
}

} // namespace torchtidy::checks
