#include "training/MissingZeroGradCheck.h"
#include "model/Program.h"

namespace torchtidy::checks {

std::vector<model::Finding> MissingZeroGradCheck::analyze(model::Program &Program) {
  return {};
}

} // namespace torchtidy::checks
