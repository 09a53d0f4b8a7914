#include "autograd/MissingNoGrad.h"

namespace torchtidy::model {

std::vector<UnusedGraph> unusedGraphs(Program &Program) {
  std::vector<UnusedGraph> Result;
  for (const Execution *Entry : Program.executionsBesideTests())
    for (const UnusedGraph &Found : unusedGraphs(*Entry))
      Result.push_back(Found);
  return Result;
}

} // namespace torchtidy::model
