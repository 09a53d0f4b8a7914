// A directed graph over dense node numbers, and what control flow asks of it:
// order, dominance, strongly connected components, loops.
#ifndef TORCHTIDY_FLOW_DIGRAPH_H
#define TORCHTIDY_FLOW_DIGRAPH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace torchtidy::flow {

class Digraph {
public:
  using Node = unsigned;

  Node addNode() {
    Successors.emplace_back();
    Predecessors.emplace_back();
    return Successors.size() - 1;
  }
  /// Parallel edges are kept once.
  void addEdge(Node From, Node To);

  unsigned size() const { return Successors.size(); }
  llvm::ArrayRef<Node> successors(Node N) const { return Successors[N]; }
  llvm::ArrayRef<Node> predecessors(Node N) const { return Predecessors[N]; }

private:
  std::vector<llvm::SmallVector<Node, 2>> Successors;
  std::vector<llvm::SmallVector<Node, 2>> Predecessors;
};

/// The nodes that are reachable from Entry, each before its successors except
/// along back edges; of two successors the first, with all that follows it,
/// before the second where the graph allows it.
std::vector<Digraph::Node> reversePostOrder(const Digraph &Graph,
                                            Digraph::Node Entry);

/// Strongly connected components, a component after all components that it has
/// edges to (so: callees before callers in a call graph).
std::vector<std::vector<Digraph::Node>>
stronglyConnectedComponents(const Digraph &Graph);

/// Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm.
class Dominators {
public:
  Dominators(const Digraph &Graph, Digraph::Node Entry);
  /// Every path from the entry to B passes A. A node dominates itself; nothing
  /// dominates, or is dominated by, an unreachable node.
  bool dominates(Digraph::Node A, Digraph::Node B) const;

private:
  static constexpr unsigned None = ~0u;
  std::vector<unsigned> Immediate;
  std::vector<unsigned> Order;
};

/// A cycle of the control flow: a `for`, `while`, `do`, `goto` loop, or a call
/// that a loop repeats.
struct Loop {
  Digraph::Node Header = 0;
  llvm::BitVector Body;
  /// The innermost loop around this one, or -1.
  int Parent = -1;
  unsigned Depth = 1;

  bool contains(Digraph::Node N) const { return Body.test(N); }
};

/// The loops of a graph. Back edges to one header make one loop. A cycle that
/// is entered in more than one place (goto) is a loop whose header is the node
/// of it that comes first.
class LoopForest {
public:
  LoopForest(const Digraph &Graph, Digraph::Node Entry);

  llvm::ArrayRef<Loop> loops() const { return Loops; }
  /// The loops that hold N, innermost first.
  llvm::SmallVector<const Loop *, 4> around(Digraph::Node N) const;

private:
  std::vector<Loop> Loops;
  std::vector<int> Innermost;
};

} // namespace torchtidy::flow

#endif
