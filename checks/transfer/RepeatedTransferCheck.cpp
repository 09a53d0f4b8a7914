// FIXME(new-check): say in one sentence what is flagged; docs/checks/torch-repeated-transfer.md
// opens with the same sentence.
#include "transfer/RepeatedTransferCheck.h"
#include "model/Program.h"

namespace torchtidy::checks {

std::vector<model::Finding> RepeatedTransferCheck::analyze(model::Program &Program) {
  return {};
}

} // namespace torchtidy::checks
