// Query: training loops that fill the gradients with zeros instead of letting
// them go.
#ifndef TORCHTIDY_MEMORY_ZEROGRADINPLACE_H
#define TORCHTIDY_MEMORY_ZEROGRADINPLACE_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// zero_grad(false), or p.grad().zero_() of all parameters, in an iteration
/// that goes on to a backward().
struct ZeroGradInPlace {
  const Execution *Entry = nullptr;
  const ZeroGradEvent *Clears = nullptr;
  /// The innermost loop around it, or around the loop over the parameters.
  const flow::Loop *Around = nullptr;
  /// Without zero_grad().
  bool IsByHand = false;
};

/// Nothing is reported where the loop trains in an inner loop only, where
/// something in it reads a gradient that a backward() may not have stored,
/// where anything in the file needs the gradients to stay where they are (CUDA
/// graphs, sums over processes, buffers that are made gradients) or makes them
/// sparse, where zero_grad() would do the same without the argument, and for
/// code that only tests run.
std::vector<ZeroGradInPlace> zeroGradsInPlace(Program &Program);

} // namespace torchtidy::model

#endif
