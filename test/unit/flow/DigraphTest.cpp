#include "flow/Digraph.h"
#include "flow/Graphs.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace torchtidy::flow;
using namespace torchtidy::test;

using Nodes = std::vector<Digraph::Node>;

static Nodes sorted(llvm::ArrayRef<Digraph::Node> From) {
  Nodes Result(From.begin(), From.end());
  llvm::sort(Result);
  return Result;
}

static unsigned position(const Nodes &Order, Digraph::Node N) {
  return llvm::find(Order, N) - Order.begin();
}

TEST(Digraph, EdgesInBothDirections) {
  Digraph G = graph(3, {{0, 1}, {0, 2}, {1, 2}});
  EXPECT_EQ(G.size(), 3u);
  EXPECT_EQ(sorted(G.successors(0)), (Nodes{1, 2}));
  EXPECT_EQ(sorted(G.predecessors(2)), (Nodes{0, 1}));
  EXPECT_TRUE(G.successors(2).empty());
  EXPECT_TRUE(G.predecessors(0).empty());
}

TEST(Digraph, ParallelEdgesAreKeptOnce) {
  Digraph G = graph(2, {{0, 1}, {0, 1}, {1, 1}, {1, 1}});
  EXPECT_EQ(G.successors(0).size(), 1u);
  EXPECT_EQ(G.successors(1).size(), 1u);
  EXPECT_EQ(sorted(G.predecessors(1)), (Nodes{0, 1}));
}

TEST(ReversePostOrder, BeforeSuccessorsExceptAlongBackEdges) {
  // A diamond in a loop, with a way out.
  Digraph G =
      graph(6, {{0, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 4}, {4, 1}, {1, 5}});
  Nodes Order = reversePostOrder(G, 0);
  EXPECT_EQ(sorted(Order), (Nodes{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(Order.front(), 0u);
  for (auto [From, To] :
       {std::pair(0u, 1u), {1u, 2u}, {1u, 3u}, {2u, 4u}, {3u, 4u}, {1u, 5u}})
    EXPECT_LT(position(Order, From), position(Order, To)) << From << "->" << To;
}

TEST(ReversePostOrder, LeavesOutWhatIsNotReached) {
  Digraph G = graph(4, {{0, 1}, {2, 1}, {2, 3}});
  EXPECT_EQ(reversePostOrder(G, 0), (Nodes{0, 1}));
  EXPECT_TRUE(reversePostOrder(Digraph(), 0).empty());
}

TEST(ReversePostOrder, VeryLongChain) {
  // The algorithms keep their own stack.
  constexpr unsigned Size = 200000;
  Digraph G = chain(Size);
  Nodes Order = reversePostOrder(G, 0);
  ASSERT_EQ(Order.size(), Size);
  EXPECT_EQ(Order.back(), Size - 1);
  EXPECT_EQ(stronglyConnectedComponents(G).size(), Size);
}

TEST(StronglyConnectedComponents, CalleesComeFirst) {
  // main (0) calls a (1) and b (2); a and c (3) call each other; c calls d (4).
  Digraph G = graph(5, {{0, 1}, {0, 2}, {1, 3}, {3, 1}, {3, 4}, {2, 4}});
  std::vector<Nodes> Components = stronglyConnectedComponents(G);
  ASSERT_EQ(Components.size(), 4u);
  std::vector<unsigned> Number(G.size());
  for (unsigned I = 0; I < Components.size(); ++I)
    for (Digraph::Node N : Components[I])
      Number[N] = I;
  EXPECT_EQ(Number[1], Number[3]);
  EXPECT_LT(Number[4], Number[1]);
  EXPECT_LT(Number[4], Number[2]);
  EXPECT_LT(Number[1], Number[0]);
  EXPECT_LT(Number[2], Number[0]);
}

TEST(StronglyConnectedComponents, CoversNodesThatNothingReaches) {
  Digraph G = graph(4, {{0, 0}, {2, 3}, {3, 2}});
  std::vector<Nodes> Components = stronglyConnectedComponents(G);
  ASSERT_EQ(Components.size(), 3u);
  std::vector<Nodes> Sorted;
  for (const Nodes &Component : Components)
    Sorted.push_back(sorted(Component));
  llvm::sort(Sorted);
  EXPECT_EQ(Sorted, (std::vector<Nodes>{{0}, {1}, {2, 3}}));
}

TEST(StronglyConnectedComponents, NestedCyclesAreOneComponent) {
  // The inner cycle is closed before the outer one is seen.
  Digraph G = graph(4, {{0, 1}, {1, 2}, {2, 1}, {2, 3}, {3, 0}});
  EXPECT_EQ(stronglyConnectedComponents(G).size(), 1u);
}
