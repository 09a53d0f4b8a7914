// Graphs for tests, written as lists of edges.
#ifndef TORCHTIDY_TEST_UNIT_FLOW_GRAPHS_H
#define TORCHTIDY_TEST_UNIT_FLOW_GRAPHS_H

#include "flow/Digraph.h"
#include <initializer_list>
#include <utility>

namespace torchtidy::test {

inline flow::Digraph
graph(unsigned Size,
      std::initializer_list<std::pair<flow::Digraph::Node, flow::Digraph::Node>>
          Edges) {
  flow::Digraph Result;
  for (unsigned N = 0; N < Size; ++N)
    Result.addNode();
  for (auto [From, To] : Edges)
    Result.addEdge(From, To);
  return Result;
}

/// 0 -> 1 -> ... -> Size - 1.
inline flow::Digraph chain(unsigned Size) {
  flow::Digraph Result;
  for (unsigned N = 0; N < Size; ++N) {
    Result.addNode();
    if (N > 0)
      Result.addEdge(N - 1, N);
  }
  return Result;
}

} // namespace torchtidy::test

#endif
