// Evaluations that set one network to eval mode, and not the one that runs with
// it.
#ifndef TORCHTIDY_QUERIES_MODES_PARTIALEVALUATION_H
#define TORCHTIDY_QUERIES_MODES_PARTIALEVALUATION_H

#include "model/execution/Execution.h"
#include <string>

namespace torchtidy::model {

/// Two modules that are trained, in train mode, and evaluated together: one in
/// eval mode, the other still as it was trained.
struct PartialEvaluation {
  /// What sets the one for this evaluation.
  const ModeChangeEvent *Eval = nullptr;
  /// The pass of the other that evaluates it, and one that trains it.
  const ForwardEvent *LeftOut = nullptr, *Trains = nullptr;
  /// The backward() that goes through that, and whether it trains both.
  const BackwardEvent *Backward = nullptr;
  bool AreTogether = false;
  /// What in it is otherwise in eval mode.
  std::string Part;
};

/// One for each eval(). The passes are of one activation and recorded in no
/// graph, their modes are certain. Of two that are trained each for itself, the
/// evaluation has an end: before the other is trained again, the one is set
/// back. Nothing is reported where anything sets the other to train mode that
/// nothing trains between there and the evaluation: dropout may be wanted.
std::vector<PartialEvaluation> partialEvaluations(const Execution &Entry);

} // namespace torchtidy::model

#endif
