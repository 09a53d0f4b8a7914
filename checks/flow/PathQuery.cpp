#include "flow/PathQuery.h"
#include <algorithm>
#include <deque>

namespace torchtidy::flow {

using Node = Digraph::Node;

namespace {

/// Breadth first, keeping where each node was reached from.
class Search {
public:
  Search(const Digraph &Graph, NodePredicate Avoid)
      : Graph(Graph), Avoid(Avoid), From(Graph.size(), Unseen) {}

  void start(Node N) {
    for (Node Successor : Graph.successors(N))
      reach(Successor, Start);
  }

  std::optional<Node> next() {
    if (Work.empty())
      return std::nullopt;
    Node N = Work.front();
    Work.pop_front();
    return N;
  }

  void expand(Node N) {
    for (Node Successor : Graph.successors(N))
      reach(Successor, N);
  }

  std::vector<Node> path(Node End) const {
    std::vector<Node> Result;
    for (unsigned N = End; N != Start; N = From[N])
      Result.push_back(N);
    std::reverse(Result.begin(), Result.end());
    return Result;
  }

private:
  void reach(Node N, unsigned Predecessor) {
    if (From[N] != Unseen || Avoid(N))
      return;
    From[N] = Predecessor;
    Work.push_back(N);
  }

  static constexpr unsigned Unseen = ~0u;
  static constexpr unsigned Start = ~0u - 1;
  const Digraph &Graph;
  NodePredicate Avoid;
  std::vector<unsigned> From;
  std::deque<Node> Work;
};

} // namespace

std::optional<std::vector<Node>> mayReach(const Digraph &Graph, Node From,
                                          NodePredicate Target,
                                          NodePredicate Avoid) {
  Search S(Graph, Avoid);
  S.start(From);
  while (std::optional<Node> N = S.next()) {
    if (Target(*N))
      return S.path(*N);
    S.expand(*N);
  }
  return std::nullopt;
}

std::optional<std::vector<Node>> mayReachVia(const Digraph &Graph, Node From,
                                             NodePredicate Via,
                                             NodePredicate Target,
                                             NodePredicate Avoid) {
  Search First(Graph, Avoid);
  First.start(From);
  std::vector<Node> Waypoints;
  while (std::optional<Node> N = First.next()) {
    if (Via(*N))
      Waypoints.push_back(*N);
    First.expand(*N);
  }
  for (Node Waypoint : Waypoints)
    if (auto Rest = mayReach(Graph, Waypoint, Target, Avoid)) {
      std::vector<Node> Path = First.path(Waypoint);
      Path.insert(Path.end(), Rest->begin(), Rest->end());
      return Path;
    }
  return std::nullopt;
}

bool mustReach(const Digraph &Graph, Node From, NodePredicate Target,
               NodePredicate Stop) {
  auto Escapes = [&](Node N) { return Stop(N) || Graph.successors(N).empty(); };
  if (Graph.successors(From).empty())
    return false;
  return !mayReach(Graph, From, Escapes, Target).has_value();
}

} // namespace torchtidy::flow
