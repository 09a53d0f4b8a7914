// Query: backward() calls in a loop that keep a graph which nothing uses again.
#ifndef TORCHTIDY_MEMORY_RETAINGRAPHINLOOP_H
#define TORCHTIDY_MEMORY_RETAINGRAPHINLOOP_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// backward(..., retain_graph=true), and nothing goes through that graph again.
struct RetainGraphInLoop {
  const Execution *Entry = nullptr;
  const BackwardEvent *Backward = nullptr;
  /// The innermost loop around it.
  const flow::Loop *Around = nullptr;
};

/// Nothing is reported where a backward(), a grad() or a look at the graph may
/// go through any of it again, in this iteration or a later one; where what
/// cannot be seen has a part of it; and where the graph may reach back to
/// before the loop and no step changes the weights in between.
std::vector<RetainGraphInLoop> retainsGraphInLoop(Program &Program);

} // namespace torchtidy::model

#endif
