// Query: losses that are given numbers on another scale than the one that they
// take.
#ifndef TORCHTIDY_RESULTS_LOSSINPUT_H
#define TORCHTIDY_RESULTS_LOSSINPUT_H

#include "model/execution/Program.h"

namespace torchtidy::model {

struct LossInput {
  const Execution *Entry = nullptr;
  const ScaleUseEvent *Use = nullptr;
  torch::ScaledLoss Loss = torch::ScaledLoss::CrossEntropy;
  torch::Scale Given = torch::Scale::Scores;
  /// What has put the numbers on this scale; null where several calls have.
  const clang::CallExpr *ScaledBy = nullptr;
  /// It stands where the loss is given its result, and nobody else gets that.
  bool IsWrittenThere = false;
};

/// Nothing is reported where the scale is not certain, and where the loss makes
/// the same of it as of what it takes: log_softmax() twice is once.
std::vector<LossInput> lossInputs(Program &Program);

} // namespace torchtidy::model

#endif
