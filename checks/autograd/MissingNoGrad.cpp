#include "autograd/MissingNoGrad.h"
#include "queries/graphs/UnguardedThreads.h"
#include <set>

namespace torchtidy::model {

std::vector<UnusedGraph> unusedGraphs(Program &Program) {
  // What one entry only evaluates another may train through.
  UsedChains Used;
  for (const auto &Entry : Program.executions())
    Used.add(*Entry);
  // There is a guard, in another thread: torch-thread-local-guard says so.
  std::set<const ForwardEvent *> Unguarded;
  for (const UnguardedThread &Found : unguardedThreads(Program))
    Unguarded.insert(Found.Forward);
  std::vector<UnusedGraph> Result;
  for (const Execution *Entry : Program.executionsThatCost())
    for (const UnusedGraph &Found : unusedGraphs(*Entry, Used))
      if (!Unguarded.count(Found.Forward))
        Result.push_back(Found);
  return Result;
}

} // namespace torchtidy::model
