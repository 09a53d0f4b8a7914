#include "autograd/MissingNoGrad.h"

namespace torchtidy::model {

std::vector<UnusedGraph> unusedGraphs(Program &Program) {
  // What one entry only evaluates another may train through.
  UsedChains Used;
  for (const auto &Entry : Program.executions())
    Used.add(*Entry);
  std::vector<UnusedGraph> Result;
  for (const Execution *Entry : Program.executionsBesideTests())
    for (const UnusedGraph &Found : unusedGraphs(*Entry, Used))
      Result.push_back(Found);
  return Result;
}

} // namespace torchtidy::model
