// Query: loops that register a hook on the same tensor in every iteration.
#ifndef TORCHTIDY_TRAINING_HOOKINLOOP_H
#define TORCHTIDY_TRAINING_HOOKINLOOP_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// A hook is registered, and those of the iterations before are still there.
struct HookInLoop {
  const Execution *Entry = nullptr;
  const HookEvent *Hook = nullptr;
  /// The innermost loop in whose iterations the tensor is the same, and which
  /// goes back through a graph.
  const flow::Loop *Around = nullptr;
  /// The hook returns another gradient.
  bool ChangesGradient = false;
};

/// Nothing is reported where the tensor is another one in each iteration, where
/// an iteration may go on to its backward() without the registration (a guard,
/// an early return), where the loop takes hooks away, where somebody keeps the
/// handle, and for code that only tests run.
std::vector<HookInLoop> hooksInLoop(Program &Program);

} // namespace torchtidy::model

#endif
