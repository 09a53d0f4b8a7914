#include "flow/PathQuery.h"
#include "flow/Graphs.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace torchtidy::flow;
using namespace torchtidy::test;

using Node = Digraph::Node;
using Nodes = std::vector<Node>;

namespace {

/// One of these nodes.
class In {
public:
  In(std::initializer_list<Node> Members) : Members(Members) {}
  bool operator()(Node N) const { return llvm::is_contained(Members, N); }

private:
  Nodes Members;
};

/// The results without the predicates' lifetimes to think of.
std::optional<Nodes> may(const Digraph &G, Node From, In Target, In Avoid) {
  return mayReach(G, From, Target, Avoid);
}
std::optional<Nodes> via(const Digraph &G, Node From, In Via, In Target,
                         In Avoid) {
  return mayReachVia(G, From, Via, Target, Avoid);
}
bool must(const Digraph &G, Node From, In Target, In Stop) {
  return mustReach(G, From, Target, Stop);
}

const In Nothing = {};

} // namespace

TEST(MayReach, ShortestPathWithoutItsStart) {
  Digraph G = graph(5, {{0, 1}, {1, 2}, {2, 3}, {0, 4}, {4, 3}});
  EXPECT_EQ(may(G, 0, {3}, Nothing), (Nodes{4, 3}));
  EXPECT_EQ(may(G, 0, {3}, {4}), (Nodes{1, 2, 3}));
  EXPECT_EQ(may(G, 0, {3}, {4, 1}), std::nullopt);
  EXPECT_EQ(may(G, 3, {0}, Nothing), std::nullopt);
}

TEST(MayReach, NearestOfSeveralTargets) {
  Digraph G = graph(4, {{0, 1}, {1, 2}, {2, 3}});
  EXPECT_EQ(may(G, 0, {2, 3}, Nothing), (Nodes{1, 2}));
}

TEST(MayReach, ToItselfOnlyRoundACycle) {
  Digraph G = graph(4, {{0, 1}, {1, 2}, {2, 1}, {2, 3}});
  EXPECT_EQ(may(G, 1, {1}, Nothing), (Nodes{2, 1}));
  EXPECT_EQ(may(G, 1, {1}, {2}), std::nullopt);
  EXPECT_EQ(may(G, 0, {0}, Nothing), std::nullopt);
  EXPECT_EQ(may(G, 3, {3}, Nothing), std::nullopt);
}

TEST(MayReach, SelfLoop) {
  Digraph G = graph(1, {{0, 0}});
  EXPECT_EQ(may(G, 0, {0}, Nothing), (Nodes{0}));
}

TEST(MayReach, StartMayBeAvoidedWithoutEffect) {
  Digraph G = graph(3, {{0, 1}, {1, 0}, {1, 2}});
  EXPECT_EQ(may(G, 0, {2}, {0}), (Nodes{1, 2}));
  EXPECT_EQ(may(G, 0, {0}, {0}), std::nullopt) << "but not be come back to";
}

TEST(MayReach, AvoidedTargetIsNotReached) {
  Digraph G = graph(4, {{0, 1}, {1, 2}, {0, 3}});
  EXPECT_EQ(may(G, 0, {2}, {2}), std::nullopt);
  EXPECT_EQ(may(G, 0, {1, 3}, {1}), (Nodes{3}));
}

TEST(MayReachVia, PathHasTheWaypoint) {
  // A step (0) round a loop: 1 may call backward (2) or not, back to 0.
  Digraph G = graph(4, {{0, 1}, {1, 2}, {2, 3}, {1, 3}, {3, 0}});
  EXPECT_EQ(via(G, 0, {2}, {0}, Nothing), (Nodes{1, 2, 3, 0}));
  EXPECT_EQ(via(G, 0, {2}, {0}, {3}), std::nullopt);
  EXPECT_EQ(via(G, 0, {2}, {0}, {2}), std::nullopt);
}

TEST(MayReachVia, TargetBeforeTheWaypointIsNoEnd) {
  // The path goes through the target, on to the waypoint, and to it again.
  Digraph G = graph(4, {{0, 1}, {1, 2}, {2, 3}, {3, 1}});
  EXPECT_EQ(via(G, 0, {2}, {1}, Nothing), (Nodes{1, 2, 3, 1}));
}

TEST(MayReachVia, WaypointFromWhichNoTargetIsReached) {
  // The nearer waypoint (1) is a dead end; the farther one (3) is not.
  Digraph G = graph(5, {{0, 1}, {0, 2}, {2, 3}, {3, 4}});
  EXPECT_EQ(via(G, 0, {1, 3}, {4}, Nothing), (Nodes{2, 3, 4}));
  EXPECT_EQ(via(G, 0, {1}, {4}, Nothing), std::nullopt);
}

TEST(MayReachVia, StartIsNoWaypointUnlessComeBackTo) {
  Digraph Straight = graph(2, {{0, 1}});
  EXPECT_EQ(via(Straight, 0, {0}, {1}, Nothing), std::nullopt);
  Digraph Round = graph(3, {{0, 1}, {1, 0}, {0, 2}});
  EXPECT_EQ(via(Round, 0, {0}, {2}, Nothing), (Nodes{1, 0, 2}));
}

TEST(MayReachVia, WaypointIsTargetOnlyRoundACycle) {
  Digraph Straight = graph(2, {{0, 1}});
  EXPECT_EQ(via(Straight, 0, {1}, {1}, Nothing), std::nullopt);
  Digraph Round = graph(2, {{0, 1}, {1, 1}});
  EXPECT_EQ(via(Round, 0, {1}, {1}, Nothing), (Nodes{1, 1}));
}

TEST(MustReach, OnAllPaths) {
  Digraph G = graph(5, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}});
  EXPECT_TRUE(must(G, 0, {3}, Nothing));
  EXPECT_TRUE(must(G, 0, {1, 2}, Nothing));
  EXPECT_FALSE(must(G, 0, {1}, Nothing));
}

TEST(MustReach, BeforeAStop) {
  Digraph G = graph(4, {{0, 1}, {1, 2}, {2, 3}});
  EXPECT_TRUE(must(G, 0, {1}, {2}));
  EXPECT_FALSE(must(G, 0, {2}, {1}));
  EXPECT_TRUE(must(G, 0, {2}, {2})) << "a target comes before its stop";
}

TEST(MustReach, EndOfTheGraphIsAStop) {
  Digraph G = graph(4, {{0, 1}, {1, 2}, {1, 3}});
  EXPECT_FALSE(must(G, 0, {2}, Nothing));
  EXPECT_FALSE(must(G, 3, {2}, Nothing));
}

TEST(MustReach, StartDoesNotCount) {
  Digraph G = graph(3, {{0, 1}, {1, 0}, {1, 2}});
  EXPECT_FALSE(must(G, 0, {0}, Nothing));
  EXPECT_TRUE(must(G, 0, {1}, {0}));
}

TEST(MustReach, EndlessCycleDoesNotCount) {
  // for (;;) { if (1) 2; }: whoever leaves it meets 3.
  Digraph G = graph(5, {{0, 1}, {1, 2}, {2, 1}, {1, 3}, {3, 4}});
  EXPECT_TRUE(must(G, 0, {3}, Nothing));
  EXPECT_FALSE(must(G, 0, {2}, Nothing));
}
