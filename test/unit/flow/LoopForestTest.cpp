#include "flow/Digraph.h"
#include "flow/Graphs.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace torchtidy::flow;
using namespace torchtidy::test;

static std::vector<unsigned> body(const Loop &L) {
  return {L.Body.set_bits().begin(), L.Body.set_bits().end()};
}

static const Loop *withHeader(const LoopForest &Forest, Digraph::Node Header) {
  const Loop *Result = nullptr;
  for (const Loop &L : Forest.loops())
    if (L.Header == Header) {
      EXPECT_EQ(Result, nullptr) << "two loops with header " << Header;
      Result = &L;
    }
  return Result;
}

TEST(LoopForest, None) {
  LoopForest Forest(graph(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}), 0);
  EXPECT_TRUE(Forest.loops().empty());
  EXPECT_TRUE(Forest.around(3).empty());
}

TEST(LoopForest, WhileLoop) {
  LoopForest Forest(graph(4, {{0, 1}, {1, 2}, {2, 1}, {1, 3}}), 0);
  ASSERT_EQ(Forest.loops().size(), 1u);
  const Loop &L = Forest.loops().front();
  EXPECT_EQ(L.Header, 1u);
  EXPECT_EQ(body(L), (std::vector<unsigned>{1, 2}));
  EXPECT_EQ(L.Depth, 1u);
  EXPECT_EQ(L.Parent, -1);
  EXPECT_TRUE(L.contains(2));
  EXPECT_FALSE(L.contains(3));
}

TEST(LoopForest, SelfLoop) {
  LoopForest Forest(graph(3, {{0, 1}, {1, 1}, {1, 2}}), 0);
  ASSERT_EQ(Forest.loops().size(), 1u);
  EXPECT_EQ(Forest.loops().front().Header, 1u);
  EXPECT_EQ(body(Forest.loops().front()), (std::vector<unsigned>{1}));
}

TEST(LoopForest, Nested) {
  // for (1) { 2; for (3) { for (4) 5; } 6 }, and a loop of its own behind (8).
  LoopForest Forest(graph(10, {{0, 1},
                               {1, 2},
                               {2, 3},
                               {3, 4},
                               {4, 5},
                               {5, 4},
                               {4, 3},
                               {3, 6},
                               {6, 1},
                               {1, 7},
                               {7, 8},
                               {8, 8},
                               {8, 9}}),
                    0);
  ASSERT_EQ(Forest.loops().size(), 4u);
  const Loop *Outer = withHeader(Forest, 1), *Middle = withHeader(Forest, 3),
             *Inner = withHeader(Forest, 4), *Other = withHeader(Forest, 8);
  ASSERT_TRUE(Outer && Middle && Inner && Other);
  EXPECT_EQ(body(*Outer), (std::vector<unsigned>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(body(*Middle), (std::vector<unsigned>{3, 4, 5}));
  EXPECT_EQ(body(*Inner), (std::vector<unsigned>{4, 5}));
  EXPECT_EQ(Outer->Depth, 1u);
  EXPECT_EQ(Middle->Depth, 2u);
  EXPECT_EQ(Inner->Depth, 3u);
  EXPECT_EQ(Other->Depth, 1u);
  EXPECT_EQ(&Forest.loops()[Inner->Parent], Middle);
  EXPECT_EQ(&Forest.loops()[Middle->Parent], Outer);
  EXPECT_EQ(Other->Parent, -1);

  llvm::SmallVector<const Loop *, 4> Around = Forest.around(5);
  ASSERT_EQ(Around.size(), 3u);
  EXPECT_EQ(Around[0], Inner) << "innermost first";
  EXPECT_EQ(Around[1], Middle);
  EXPECT_EQ(Around[2], Outer);
  EXPECT_EQ(Forest.around(6).size(), 1u);
  EXPECT_TRUE(Forest.around(7).empty());
}

TEST(LoopForest, TwoBackEdgesToOneHeaderAreOneLoop) {
  // while (1) { if (2) continue; 3 }
  LoopForest Forest(graph(5, {{0, 1}, {1, 2}, {2, 1}, {2, 3}, {3, 1}, {1, 4}}),
                    0);
  ASSERT_EQ(Forest.loops().size(), 1u);
  EXPECT_EQ(body(Forest.loops().front()), (std::vector<unsigned>{1, 2, 3}));
}

TEST(LoopForest, BreakAndReturnAreOutside) {
  // while (1) { if (2) break; 3 } 4, where 5 returns out of the loop.
  LoopForest Forest(
      graph(6, {{0, 1}, {1, 2}, {2, 4}, {2, 3}, {3, 1}, {3, 5}, {1, 4}}), 0);
  ASSERT_EQ(Forest.loops().size(), 1u);
  EXPECT_EQ(body(Forest.loops().front()), (std::vector<unsigned>{1, 2, 3}));
}

TEST(LoopForest, CycleWithTwoEntries) {
  // goto into a loop: the cycle of 1 and 2 is entered at both.
  LoopForest Forest(graph(4, {{0, 1}, {0, 2}, {1, 2}, {2, 1}, {2, 3}}), 0);
  ASSERT_EQ(Forest.loops().size(), 1u);
  EXPECT_EQ(body(Forest.loops().front()), (std::vector<unsigned>{1, 2}));
  EXPECT_EQ(Forest.around(1).size(), 1u);
  EXPECT_EQ(Forest.around(2).size(), 1u);
}

TEST(LoopForest, CycleWithTwoEntriesInALoop) {
  // The same inside for (1): its nodes are 2 and 3.
  LoopForest Forest(
      graph(5, {{0, 1}, {1, 2}, {1, 3}, {2, 3}, {3, 2}, {3, 1}, {1, 4}}), 0);
  const Loop *Outer = withHeader(Forest, 1);
  ASSERT_TRUE(Outer);
  EXPECT_EQ(body(*Outer), (std::vector<unsigned>{1, 2, 3}));
  ASSERT_EQ(Forest.loops().size(), 2u);
  EXPECT_EQ(Forest.around(2).size(), 2u);
  EXPECT_EQ(Forest.around(2).back(), Outer);
}

TEST(LoopForest, CycleThatNothingReaches) {
  // Code behind a return.
  LoopForest Forest(graph(4, {{0, 1}, {2, 3}, {3, 2}, {3, 1}}), 0);
  EXPECT_TRUE(Forest.loops().empty());
}

TEST(LoopForest, EntryInTheLoop) {
  LoopForest Forest(graph(2, {{0, 1}, {1, 0}}), 0);
  ASSERT_EQ(Forest.loops().size(), 1u);
  EXPECT_EQ(Forest.loops().front().Header, 0u);
}

/// Whatever the graph, each node on a cycle is in a loop, each body stays
/// within one strongly connected component, and loops around a node are nested.
TEST(LoopForest, ManySmallGraphs) {
  for (unsigned Pattern = 0; Pattern < 1u << 16; Pattern += 19) {
    Digraph G = graph(4, {});
    for (unsigned Edge = 0; Edge < 16; ++Edge)
      if (Pattern & (1u << Edge))
        G.addEdge(Edge / 4, Edge % 4);
    std::vector<Digraph::Node> Reached = reversePostOrder(G, 0);
    LoopForest Forest(G, 0);
    for (const std::vector<Digraph::Node> &Component :
         stronglyConnectedComponents(G)) {
      Digraph::Node First = Component.front();
      const bool IsCycle = Component.size() > 1 ||
                           llvm::is_contained(G.successors(First), First);
      for (Digraph::Node N : Component) {
        const bool IsInLoop = IsCycle && llvm::is_contained(Reached, N);
        EXPECT_EQ(!Forest.around(N).empty(), IsInLoop) << N;
        for (const Loop *L : Forest.around(N)) {
          EXPECT_TRUE(L->contains(N));
          for (unsigned Other : L->Body.set_bits())
            EXPECT_TRUE(llvm::is_contained(Component, Other));
        }
      }
    }
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << "with pattern " << Pattern;
      return;
    }
  }
}
