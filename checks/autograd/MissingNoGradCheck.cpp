#include "autograd/MissingNoGradCheck.h"
#include "model/Program.h"

namespace torchtidy::checks {

std::vector<model::Finding> MissingNoGradCheck::analyze(model::Program &Program) {
  return {};
}

} // namespace torchtidy::checks
