#include "memory/RetainedGraphCheck.h"
#include "model/Program.h"

namespace torchtidy::checks {

std::vector<model::Finding> RetainedGraphCheck::analyze(model::Program &Program) {
  return {};
}

} // namespace torchtidy::checks
