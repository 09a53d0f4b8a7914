// Query: forward passes that evaluate, and record a graph for it.
#ifndef TORCHTIDY_AUTOGRAD_MISSINGNOGRAD_H
#define TORCHTIDY_AUTOGRAD_MISSINGNOGRAD_H

#include "model/execution/Program.h"
#include "queries/graphs/UnusedGraphs.h"

namespace torchtidy::model {

/// Only a strict check speaks of a pass that main() makes once, unless the code
/// shows that what goes into it is large.
/// Nothing is reported for code that only tests run; the rest is said of the
/// question for one entry.
std::vector<UnusedGraph> unusedGraphs(Program &Program);

} // namespace torchtidy::model

#endif
