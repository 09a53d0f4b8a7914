#include "flow/Solver.h"
#include "flow/Graphs.h"
#include "gtest/gtest.h"
#include <set>

using namespace torchtidy::flow;
using namespace torchtidy::test;

using Node = Digraph::Node;
using Set = std::set<Node>;

/// Joins sets; counts nothing, changes only upwards.
static bool unite(Set &Into, const Set &From, Node) {
  size_t Before = Into.size();
  Into.insert(From.begin(), From.end());
  return Into.size() != Before;
}

/// The nodes that may have been met before.
static Set addSelf(Node N, const Set &Before) {
  Set After = Before;
  After.insert(N);
  return After;
}

TEST(Solver, Forward) {
  Digraph G = graph(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  auto Result = solve(G, 0, Set{}, addSelf, unite);
  EXPECT_TRUE(Result.Complete);
  EXPECT_EQ(*Result.Before[0], (Set{}));
  EXPECT_EQ(*Result.Before[1], (Set{0}));
  EXPECT_EQ(*Result.Before[3], (Set{0, 1, 2}));
}

TEST(Solver, ForwardRoundALoop) {
  Digraph G = graph(4, {{0, 1}, {1, 2}, {2, 1}, {1, 3}});
  auto Result = solve(G, 0, Set{}, addSelf, unite);
  EXPECT_EQ(*Result.Before[1], (Set{0, 1, 2}));
  EXPECT_EQ(*Result.Before[3], (Set{0, 1, 2}));
}

TEST(Solver, InitialStateIsThatOfTheStart) {
  Digraph G = graph(2, {{0, 1}});
  auto Result = solve(G, 0, Set{7}, addSelf, unite);
  EXPECT_EQ(*Result.Before[0], (Set{7}));
  EXPECT_EQ(*Result.Before[1], (Set{0, 7}));
}

TEST(Solver, NoStateWhereNothingIsReached) {
  Digraph G = graph(3, {{0, 1}, {2, 1}});
  auto Result = solve(G, 0, Set{}, addSelf, unite);
  EXPECT_FALSE(Result.Before[2].has_value());
  EXPECT_EQ(*Result.Before[1], (Set{0}));
}

TEST(Solver, Backward) {
  // The nodes that may be met after; 3 is the end.
  Digraph G = graph(5, {{0, 1}, {1, 2}, {2, 1}, {1, 3}, {4, 4}});
  auto Result = solve(G, 3, Set{}, addSelf, unite, Direction::Backward);
  EXPECT_TRUE(Result.Complete);
  EXPECT_EQ(*Result.Before[3], (Set{}));
  EXPECT_EQ(*Result.Before[1], (Set{1, 2, 3}));
  EXPECT_EQ(*Result.Before[0], (Set{1, 2, 3}));
  EXPECT_FALSE(Result.Before[4].has_value());
}

TEST(Solver, JoinToldWhichNodeItIsFor) {
  // Widening at the header of a loop: the counter stops there.
  Digraph G = graph(3, {{0, 1}, {1, 1}, {1, 2}});
  constexpr int Top = 1000;
  auto Count = [](Node, int Before) {
    return Before == Top ? Top : Before + 1;
  };
  auto Widen = [](int &Into, int From, Node N) {
    if (From <= Into)
      return false;
    Into = N == 1 ? Top : From;
    return true;
  };
  auto Result = solve(G, 0, 0, Count, Widen);
  EXPECT_TRUE(Result.Complete);
  EXPECT_EQ(*Result.Before[1], Top);
  EXPECT_EQ(*Result.Before[2], Top);
}

/// A counter in a loop has no fixed point.
class Endless : public testing::Test {
protected:
  template <class... Bounds> bool run(Bounds... Rest) {
    auto Count = [&](Node, unsigned Before) {
      ++Visits;
      return Before + 1;
    };
    auto Greater = [](unsigned &Into, unsigned From, Node) {
      if (From <= Into)
        return false;
      Into = From;
      return true;
    };
    return solve(graph(3, {{0, 1}, {1, 1}, {1, 2}}), 0, 0u, Count, Greater,
                 Rest...)
        .Complete;
  }

  unsigned Visits = 0;
};

TEST_F(Endless, BoundOnVisits) {
  EXPECT_FALSE(run());
  EXPECT_GE(Visits, 100u);
  EXPECT_LE(Visits, 150u) << "50 for each node on average";
}

TEST_F(Endless, Budget) {
  EXPECT_FALSE(run(Direction::Forward, 10ul));
  EXPECT_LE(Visits, 11u);
}

TEST_F(Endless, CostOfAVisit) {
  // The cost of a visit is that of the state before it.
  auto Cost = [](unsigned State, Digraph::Node) -> unsigned long {
    return State;
  };
  EXPECT_FALSE(run(Direction::Forward, 100ul, Cost));
  EXPECT_GT(Visits, 5u);
  EXPECT_LT(Visits, 20u);
}

TEST(Solver, EmptyGraph) {
  auto Result = solve(Digraph(), 0, Set{}, addSelf, unite);
  EXPECT_TRUE(Result.Complete);
  EXPECT_TRUE(Result.Before.empty());
}

TEST(Solver, NodesOfAChainAreVisitedOnce) {
  // In reverse post-order, so also when a branch is far longer than the other.
  Digraph G = chain(1000);
  G.addEdge(0, 999);
  unsigned Visits = 0;
  auto Count = [&](Node N, const Set &Before) {
    ++Visits;
    return Before;
  };
  auto Result = solve(G, 0, Set{1}, Count, unite);
  EXPECT_TRUE(Result.Complete);
  EXPECT_EQ(Visits, 1000u);
}

TEST(Solver, LeastFixedPoint) {
  // No state is larger than what its paths justify.
  Digraph G = graph(6, {{0, 1}, {1, 2}, {2, 3}, {3, 1}, {3, 4}, {0, 5}});
  auto Result = solve(G, 0, Set{}, addSelf, unite);
  EXPECT_EQ(*Result.Before[5], (Set{0}));
  EXPECT_EQ(*Result.Before[4], (Set{0, 1, 2, 3}));
}
