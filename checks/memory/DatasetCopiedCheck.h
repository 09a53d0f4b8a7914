#ifndef TORCHTIDY_MEMORY_DATASETCOPIEDCHECK_H
#define TORCHTIDY_MEMORY_DATASETCOPIEDCHECK_H

#include "TorchCheck.h"

namespace torchtidy::checks {

class DatasetCopiedCheck : public TorchCheck {
public:
  using TorchCheck::TorchCheck;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;
};

} // namespace torchtidy::checks

#endif
