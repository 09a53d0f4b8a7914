// Finds tensors that are kept beyond their iteration together with the autograd
// graph that made them, so that every iteration leaves its graph behind.
//
// docs/checks/torch-retained-graph.md
#ifndef TORCHTIDY_MEMORY_RETAINEDGRAPHCHECK_H
#define TORCHTIDY_MEMORY_RETAINEDGRAPHCHECK_H

#include "TorchCheck.h"

namespace torchtidy::checks {

class RetainedGraphCheck : public TorchCheck {
public:
  using TorchCheck::TorchCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
