// A worklist solver for data flow problems over a Digraph.
#ifndef TORCHTIDY_FLOW_SOLVER_H
#define TORCHTIDY_FLOW_SOLVER_H

#include "flow/Digraph.h"
#include <optional>
#include <queue>
#include <vector>

namespace torchtidy::flow {

enum class Direction { Forward, Backward };

/// What a run came to.
template <class State> struct Solution {
  /// The state before each node, in the direction of the analysis; none where
  /// the node was never reached.
  std::vector<std::optional<State>> Before;
  /// False when the bound on steps was met: the states are then not safe to
  /// draw conclusions from.
  bool Complete = true;
};

struct NoCost {
  template <class State>
  unsigned long operator()(const State &, Digraph::Node) const {
    return 1;
  }
};

/// Solves a monotone problem. Transfer: State(Node, State). Join: bool(State
/// &Into, const State &From, Node), true when Into changed. Nodes are worked on
/// in reverse post-order. A visit costs what Cost(State, Node) says of the
/// state before it; the run ends when Budget is spent, or after 50 visits per
/// node on average.
template <class State, class Transfer, class Join, class CostOf = NoCost>
Solution<State> solve(const Digraph &Graph, Digraph::Node Start, State Initial,
                      Transfer TransferNode, Join JoinInto,
                      Direction Way = Direction::Forward,
                      unsigned long Budget = ~0ul, CostOf Cost = CostOf()) {
  Solution<State> Result;
  Result.Before.resize(Graph.size());
  if (Graph.size() == 0)
    return Result;

  std::vector<unsigned> Rank(Graph.size(), ~0u);
  if (Way == Direction::Forward) {
    unsigned Next = 0;
    for (Digraph::Node N : reversePostOrder(Graph, Start))
      Rank[N] = Next++;
  } else {
    for (Digraph::Node N = 0; N < Graph.size(); ++N)
      Rank[N] = Graph.size() - N;
  }

  using Item = std::pair<unsigned, Digraph::Node>;
  std::priority_queue<Item, std::vector<Item>, std::greater<Item>> Work;
  llvm::BitVector Queued(Graph.size());
  auto Enqueue = [&](Digraph::Node N) {
    if (!Queued.test(N)) {
      Queued.set(N);
      Work.emplace(Rank[N], N);
    }
  };

  Result.Before[Start] = std::move(Initial);
  Enqueue(Start);
  unsigned long Visits = 50ul * Graph.size();
  while (!Work.empty()) {
    Digraph::Node N = Work.top().second;
    Work.pop();
    const unsigned long Price = Cost(*Result.Before[N], N);
    if (Visits-- == 0 || Budget < Price) {
      Result.Complete = false;
      return Result;
    }
    Budget -= Price;
    Queued.reset(N);
    State After = TransferNode(N, *Result.Before[N]);
    const auto &Following =
        Way == Direction::Forward ? Graph.successors(N) : Graph.predecessors(N);
    for (const Digraph::Node &Next : Following) {
      std::optional<State> &Before = Result.Before[Next];
      if (!Before) {
        // A state is large: the last that gets one takes it.
        if (&Next == &Following.back())
          Before =
              std::move(After); // NOLINT(bugprone-use-after-move): the last
        else
          Before = After;
        Enqueue(Next);
      } else if (JoinInto(*Before, After, Next)) {
        Enqueue(Next);
      }
    }
  }
  return Result;
}

} // namespace torchtidy::flow

#endif
