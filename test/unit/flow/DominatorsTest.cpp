#include "flow/Digraph.h"
#include "flow/Graphs.h"
#include "gtest/gtest.h"

using namespace torchtidy::flow;
using namespace torchtidy::test;

/// By definition: B is not reached without A.
static bool dominatesByPaths(const Digraph &G, Digraph::Node Entry,
                             Digraph::Node A, Digraph::Node B) {
  auto Reaches = [&](bool MeetsA) {
    std::vector<bool> Seen(G.size());
    std::vector<Digraph::Node> Work;
    if (MeetsA || Entry != A)
      Work.push_back(Entry);
    while (!Work.empty()) {
      Digraph::Node N = Work.back();
      Work.pop_back();
      if (Seen[N])
        continue;
      Seen[N] = true;
      for (Digraph::Node Next : G.successors(N))
        if (MeetsA || Next != A)
          Work.push_back(Next);
    }
    return bool(Seen[B]);
  };
  return Reaches(true) && !Reaches(false);
}

static void expectAsByDefinition(const Digraph &G, Digraph::Node Entry) {
  Dominators D(G, Entry);
  for (Digraph::Node A = 0; A < G.size(); ++A)
    for (Digraph::Node B = 0; B < G.size(); ++B)
      EXPECT_EQ(D.dominates(A, B), dominatesByPaths(G, Entry, A, B))
          << A << " dominates " << B;
}

TEST(Dominators, Diamond) {
  Digraph G = graph(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  Dominators D(G, 0);
  EXPECT_TRUE(D.dominates(0, 3));
  EXPECT_FALSE(D.dominates(1, 3));
  EXPECT_FALSE(D.dominates(3, 1));
  EXPECT_TRUE(D.dominates(2, 2));
  expectAsByDefinition(G, 0);
}

TEST(Dominators, Loop) {
  Digraph G = graph(5, {{0, 1}, {1, 2}, {2, 3}, {3, 1}, {1, 4}});
  Dominators D(G, 0);
  EXPECT_TRUE(D.dominates(1, 3));
  EXPECT_TRUE(D.dominates(1, 4));
  EXPECT_FALSE(D.dominates(2, 4));
  expectAsByDefinition(G, 0);
}

TEST(Dominators, NothingIsSaidOfUnreachableNodes) {
  Digraph G = graph(4, {{0, 1}, {2, 1}, {2, 3}});
  Dominators D(G, 0);
  EXPECT_TRUE(D.dominates(0, 1)) << "the edge from 2 can never be taken";
  EXPECT_FALSE(D.dominates(2, 3));
  EXPECT_FALSE(D.dominates(0, 2));
  EXPECT_FALSE(D.dominates(2, 2));
  expectAsByDefinition(G, 0);
}

TEST(Dominators, CycleWithTwoEntries) {
  Digraph G = graph(5, {{0, 1}, {0, 2}, {1, 2}, {2, 1}, {1, 3}, {2, 4}});
  expectAsByDefinition(G, 0);
}

TEST(Dominators, EntryWithPredecessors) {
  expectAsByDefinition(graph(3, {{0, 1}, {1, 0}, {1, 2}}), 0);
}

TEST(Dominators, ManySmallGraphs) {
  // All graphs with four nodes whose edges are the bits of a pattern, in steps.
  for (unsigned Pattern = 0; Pattern < 1u << 16; Pattern += 23) {
    Digraph G = graph(4, {});
    for (unsigned Edge = 0; Edge < 16; ++Edge)
      if (Pattern & (1u << Edge))
        G.addEdge(Edge / 4, Edge % 4);
    expectAsByDefinition(G, 0);
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << "with pattern " << Pattern;
      return;
    }
  }
}
