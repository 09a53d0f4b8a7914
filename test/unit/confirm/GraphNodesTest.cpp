#include "Recordings.h"
#include <gtest/gtest.h>

using namespace torchtidy::confirm;
using torchtidy::FindingKind;

namespace {

constexpr const char *Evidence = "graph-nodes-per-iteration";

/// A training loop of lines 10 to 30 whose forward pass is line 12, with a
/// backward() in line 14.
struct Loop : MadeRecording {
  explicit Loop(uint64_t Hits, bool IsKept) {
    const std::vector<SourceLine> Stack = {at(5, "forward"), at(12)};
    Site &Forward = IsKept ? kept("aten::addmm", Stack, Hits, 10)
                           : graph("aten::addmm", Stack, Hits, 10, 10, true);
    sample(Forward, [=](uint64_t Hit, Sample &Each) {
      Each.Nodes = IsKept ? int64_t(Hit) * 10 : 10;
      Each.HeapBytes = IsKept ? int64_t(Hit) * 8200 : 8200;
    });
    site("backward", {at(14)}, Hits);
  }

  /// A finding in the loop, as torch-tidy writes it.
  static DiagnosedFinding finding(unsigned Line) {
    DiagnosedFinding Result = torchtidy::confirm::finding(Evidence, Line);
    Result.Loop = {File, 10, 30};
    Result.IterationSite = {File, 12, 12};
    return Result;
  }
};

TEST(GraphNodes, KeptLossIsConfirmedByTheLineThatBuiltIt) {
  const Loop Run(272, /*IsKept=*/true);
  const Verdict V = judgeOne(Loop::finding(20), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Iterations, 272u);
  EXPECT_DOUBLE_EQ(*V.Number, 10);
  EXPECT_EQ(V.Sentence, "8 KiB of host memory and 10 graph nodes kept per "
                        "iteration, 272 iterations");
}

TEST(GraphNodes, FreedGraphIsRefuted) {
  const Loop Run(272, /*IsKept=*/false);
  const Verdict V = judgeOne(Loop::finding(20), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Refuted);
  EXPECT_NE(V.Rule.find("nodes do not stay alive"), std::string::npos)
      << V.Rule;
}

TEST(GraphNodes, HealthyLineBesideALeakIsRefuted) {
  Loop Run(272, /*IsKept=*/true);
  // A division whose node goes with its iteration.
  Run.graph("aten::div", {at(16)}, 272, 1, 1, true);
  const Verdict V = judgeOne(Loop::finding(16), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Refuted);
}

TEST(GraphNodes, LineWithoutNodesBesideALeakIsRefuted) {
  Loop Run(272, /*IsKept=*/true);
  Run.site("aten::item", {at(17)}, 272);
  const Verdict V = judgeOne(Loop::finding(17), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Refuted);
  EXPECT_NE(V.Rule.find("no nodes made at the line"), std::string::npos);
}

TEST(GraphNodes, OperationThatHandsOnIsLookedThrough) {
  // losses.push_back(loss.to(torch::kCPU)) on the CPU: the same tensor.
  Loop Run(272, /*IsKept=*/true);
  Run.site("aten::to", {at(20)}, 272);
  EXPECT_EQ(judgeOne(Loop::finding(20), Run.Run).Result, Outcome::Confirmed);
}

TEST(GraphNodes, SumThatEndsWithTheEpochIsConfirmed) {
  // total += loss, four epochs of 20 batches: 20 graphs at once.
  MadeRecording Run;
  Site &Add = Run.graph("aten::add_", {at(20)}, 80, 1, 20, false);
  sampleNodes(Add, [](uint64_t Hit) { return int64_t((Hit - 1) % 20) * 11; });
  const Verdict V = judgeOne(finding(Evidence, 20), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_DOUBLE_EQ(*V.Number, 11);
  EXPECT_NE(V.Sentence.find("the graphs of up to 20 at once"),
            std::string::npos)
      << V.Sentence;
}

TEST(GraphNodes, ReleasedBeforeTheEndIsConfirmedAllTheSame) {
  Loop Run(60, /*IsKept=*/true);
  Run.Run.Sites[0].NodesAlive = 0;
  Run.Run.NodesAlive = 0;
  EXPECT_EQ(judgeOne(Loop::finding(20), Run.Run).Result, Outcome::Confirmed);
}

TEST(GraphNodes, StepsThatAreBackwardedTogetherAreRefuted) {
  // Truncated backpropagation over 12 steps: 12 graphs at once, run by one
  // backward() and freed.
  MadeRecording Run;
  Run.graph("aten::lstm", {at(12)}, 240, 5, 60, true);
  Run.site("backward", {at(25)}, 20);
  DiagnosedFinding Planted = finding(Evidence, 12);
  const Verdict V = judgeOne(Planted, Run.Run);
  EXPECT_EQ(V.Result, Outcome::Refuted);
  EXPECT_NE(V.Rule.find("kept until their backward()"), std::string::npos);
}

TEST(GraphNodes, LossesOfAnEpochThatOneBackwardRunsAreRefuted) {
  MadeRecording Run;
  Run.graph("aten::cross_entropy_loss", {at(5, "loss"), at(12)}, 125, 1, 25,
            true);
  Run.site("backward", {at(40)}, 5);
  EXPECT_EQ(judgeOne(finding(Evidence, 12), Run.Run).Result, Outcome::Refuted);
}

TEST(GraphNodes, TheNearestBackwardCounts) {
  // main() also calls a training that runs backward() far more often.
  MadeRecording Run;
  const SourceLine Caller = at(90, "main");
  Run.graph("aten::cross_entropy_loss", {at(12, "adapt"), Caller}, 125, 1, 25,
            true);
  Run.site("backward", {at(14, "adapt"), Caller}, 5);
  Run.site("backward", {at(40, "fit"), at(91, "main")}, 1000);
  EXPECT_EQ(judgeOne(finding(Evidence, 12), Run.Run).Result, Outcome::Refuted);
}

TEST(GraphNodes, WhicheverBackwardRunsThem) {
  // A backward() in another function runs all of them together, and they go;
  // or they stay when it has, and further ones come.
  MadeRecording Run;
  Run.graph("aten::lstm", {at(12)}, 240, 5, 1200, true);
  Run.site("backward", {{File, 90, "other"}, {File, 99, "main"}}, 1);
  const Verdict V = judgeOne(finding(Evidence, 12), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Refuted);
  EXPECT_NE(V.Sentence.find("a backward() runs the graphs and frees them"),
            std::string::npos)
      << V.Sentence;
  Run.Run.Sites[0].NodesStale = 1200;
  EXPECT_EQ(judgeOne(finding(Evidence, 12), Run.Run).Result,
            Outcome::Confirmed);
}

TEST(GraphNodes, EpisodesOfDifferentLengthAreRefuted) {
  // 54 episodes of 3 steps, 6 of 60; one backward() runs each as a whole.
  MadeRecording Run;
  Site &S = Run.graph("aten::select", {at(12)}, 522, 1, 60, true);
  S.NodesAllGone = 60;
  Run.site("backward", {at(14)}, 60);
  EXPECT_EQ(judgeOne(finding(Evidence, 12), Run.Run).Result, Outcome::Refuted);
}

TEST(GraphNodes, ShortEpochsAreUnitsOfTheirOwn) {
  // total = total + loss, sixty epochs of 8 batches: never more than 8 at once.
  MadeRecording Run;
  Run.graph("aten::add", {at(20)}, 480, 1, 8, false);
  const Verdict V = judgeOne(finding(Evidence, 20), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed) << V.Sentence;
  EXPECT_NE(V.Sentence.find("the graphs of up to 8 at once"), std::string::npos)
      << V.Sentence;
}

TEST(GraphNodes, LineThatBuildsWhatAnotherKeepsIsRefuted) {
  // out = net->forward(x); total = total + loss: the sum leads to the graphs.
  MadeRecording Run;
  Site &Built = Run.kept("aten::addmm", {at(12)}, 80, 1);
  Built.SweptNodes = 64;
  Built.SweptRoots = 1;
  Site &Sum = Run.graph("aten::add", {at(20)}, 80, 1, 80, false);
  Sum.SweptRoots = 1;
  Sum.SweptChain = Sum.SweptNodes;
  const Verdict V = judgeOne(finding(Evidence, 12), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Refuted);
  EXPECT_EQ(V.Sentence, "line 12 builds graphs that stay, but it is line 20 "
                        "that holds them, 80 iterations");
  EXPECT_EQ(judgeOne(finding(Evidence, 20), Run.Run).Result,
            Outcome::Confirmed);
  // best = loss, in the same loop: what it would hold is held anyway.
  DiagnosedFinding Store = finding(Evidence, 25);
  Store.IterationSite = {File, 12, 12};
  EXPECT_EQ(judgeOne(Store, Run.Run).Result, Outcome::NotMeasurable);
}

TEST(GraphNodes, WhatIsStoredMayBeMadeOfWhatIsBuilt) {
  // out = net->forward(x); loss = mse(out, y); losses.push_back(loss), where
  // the finding names the pass as what builds the graph.
  MadeRecording Run;
  Run.kept("aten::addmm", {at(12)}, 80, 1).SweptRoots = 1;
  Run.kept("aten::mse_loss", {at(13)}, 80, 1);
  DiagnosedFinding Store = finding(Evidence, 20);
  Store.IterationSite = {File, 12, 12};
  EXPECT_EQ(judgeOne(Store, Run.Run).Result, Outcome::Confirmed);
}

TEST(GraphNodes, WhatACalleeKeepsIsItsOwn) {
  // forward() keeps what its line 5 makes; its caller's line 12 makes the rest.
  MadeRecording Run;
  Run.kept("aten::relu", {at(5, "forward"), at(12)}, 80, 1);
  Site &Own = Run.kept("aten::mean", {at(12)}, 80, 1);
  Own.SweptRoots = 1;
  EXPECT_EQ(judgeOne(finding(Evidence, 12), Run.Run).Result, Outcome::Refuted);
  EXPECT_EQ(judgeOne(finding(Evidence, 5), Run.Run).Result, Outcome::Confirmed);
}

TEST(GraphNodes, TooManyNodesToFindTheHolder) {
  MadeRecording Run;
  Run.kept("aten::relu", {at(12)}, 80, 1).SweptNodes = 0;
  const Verdict V = judgeOne(finding(Evidence, 12), Run.Run);
  EXPECT_EQ(V.Result, Outcome::NotMeasurable);
  EXPECT_NE(V.Sentence.find("too many nodes"), std::string::npos);
}

TEST(GraphNodes, RetainedGraphsThatEachBackwardRunsAgainAreConfirmed) {
  MadeRecording Run;
  Site &Cell = Run.graph("aten::gru", {at(12)}, 60, 4, 240, true);
  Cell.NodesRun = 60 * 61 / 2 * 4;
  Run.site("backward", {at(14)}, 60);
  EXPECT_EQ(judgeOne(finding(Evidence, 12), Run.Run).Result,
            Outcome::Confirmed);
}

TEST(GraphNodes, GradModeDecidesByWayOfCalls) {
  // loss_on() of line 5 is called from training (12) and from validation under
  // a guard (50); only the training's graphs are counted.
  MadeRecording Run;
  Run.kept("aten::mse_loss", {at(5, "loss_on"), at(12)}, 200, 1);
  Run.site("aten::mse_loss", {at(5, "loss_on"), at(50, "validate")}, 40);
  Run.site("backward", {at(13)}, 200);
  DiagnosedFinding Kept = finding(Evidence, 20);
  Kept.IterationSite = {File, 5, 5};
  const Verdict V = judgeOne(Kept, Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Iterations, 200u);
}

TEST(GraphNodes, LoopChoosesBetweenWaysOfCalls) {
  // Called from two loops, and kept in one only: the finding is of the other.
  MadeRecording Run;
  Run.kept("aten::mse_loss", {at(5, "loss_on"), at(12)}, 200, 1);
  Run.graph("aten::mse_loss", {at(5, "loss_on"), at(52)}, 200, 1, 1, true);
  DiagnosedFinding Other = finding(Evidence, 55);
  Other.Loop = {File, 50, 60};
  Other.IterationSite = {File, 5, 5};
  EXPECT_EQ(judgeOne(Other, Run.Run).Result, Outcome::Refuted);
  Other.Loop = {File, 10, 20};
  Other.Statement = {File, 15, 15};
  EXPECT_EQ(judgeOne(Other, Run.Run).Result, Outcome::Confirmed);
}

TEST(GraphNodes, SeveralStepsInOneIterationAreNoLeak) {
  // Each call runs 16 time steps: 16 nodes alive at once are one iteration's.
  MadeRecording Run;
  Run.graph("aten::mm", {at(7, "cell"), at(12)}, 16 * 50, 1, 16, true);
  Run.graph("aten::stack", {at(12)}, 50, 1, 1, true);
  EXPECT_EQ(judgeOne(finding(Evidence, 12), Run.Run).Result, Outcome::Refuted);
}

TEST(GraphNodes, BoundedWindowIsRefuted) {
  MadeRecording Run;
  Run.graph("aten::mm", {at(12)}, 1000, 1, 12, false).NodesAllGone = 1;
  EXPECT_EQ(judgeOne(finding(Evidence, 12), Run.Run).Result, Outcome::Refuted);
}

TEST(GraphNodes, WindowInAShortRunIsNotMeasurable) {
  MadeRecording Run;
  Run.graph("aten::mm", {at(12)}, 25, 1, 6, false).NodesAllGone = 1;
  EXPECT_EQ(judgeOne(finding(Evidence, 12), Run.Run).Result,
            Outcome::NotMeasurable);
}

TEST(GraphNodes, TooFewIterations) {
  const Loop Run(19, /*IsKept=*/true);
  const Verdict V = judgeOne(Loop::finding(20), Run.Run);
  EXPECT_EQ(V.Result, Outcome::NotMeasurable);
  EXPECT_NE(V.Sentence.find("too few iterations: 19"), std::string::npos);
}

TEST(GraphNodes, LineWithoutOperationAndSiteIsNotMeasurableInALeakingLoop) {
  const Loop Run(272, /*IsKept=*/true);
  DiagnosedFinding Bare = Loop::finding(20);
  Bare.IterationSite = {};
  EXPECT_EQ(judgeOne(Bare, Run.Run).Result, Outcome::NotMeasurable);
}

TEST(GraphNodes, StoreAmongLinesThatRanIsNotUnreached) {
  // kept = loss, in a text: neither a loop nor what builds the graph is named.
  const DiagnosedFinding Store = finding(Evidence, 20);
  MadeRecording Run;
  Run.site("aten::mm", {at(19)}, 40);
  Run.site("aten::mm", {at(30, "other")}, 40);
  EXPECT_EQ(judgeOne(Store, Run.Run).Result, Outcome::NotReached);
  Run.site("aten::mm", {at(22)}, 40);
  EXPECT_EQ(judgeOne(Store, Run.Run).Result, Outcome::NotMeasurable);
}

TEST(GraphNodes, LoopWithoutAnyNodesIsRefuted) {
  MadeRecording Run;
  Run.site("aten::mm", {at(12)}, 100);
  DiagnosedFinding Bare = Loop::finding(20);
  Bare.IterationSite = {};
  EXPECT_EQ(judgeOne(Bare, Run.Run).Result, Outcome::Refuted);
}

TEST(GraphNodes, OneExtraGraph) {
  // last = loss: two graphs at once, where one would be.
  DiagnosedFinding Last = finding(Evidence, 20);
  Last.Kind = FindingKind::GraphOverwritten;
  Last.IterationSite = {File, 12, 12};
  MadeRecording Kept, Freed;
  Kept.graph("aten::mm", {at(12)}, 30, 4, 8, true);
  Freed.graph("aten::mm", {at(12)}, 30, 4, 4, true);
  EXPECT_EQ(judgeOne(Last, Kept.Run).Result, Outcome::Confirmed);
  EXPECT_EQ(judgeOne(Last, Freed.Run).Result, Outcome::Refuted);
}

TEST(GraphNodes, ExceptionOfTheSecondBackward) {
  MadeRecording Run;
  Run.graph("aten::gru", {at(12)}, 2, 4, 8, true);
  Site &Backward = Run.site("backward", {at(14)}, 2);
  Backward.Exceptions = 1;
  Backward.Thrown = {{"c10::Error",
                      "Trying to backward through the graph a second time (or "
                      "directly access saved tensors",
                      1}};
  DiagnosedFinding State = finding(Evidence, 12);
  State.Kind = FindingKind::StateThrows;
  const Verdict V = judgeOne(State, Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Cost, CostKind::WrongResult);
  // Thrown there by something else.
  Backward.Thrown[0].Message = "grad can be implicitly created only for scalar";
  EXPECT_NE(judgeOne(State, Run.Run).Result, Outcome::Confirmed);
}

/// A finding of a check of ours in a file that does not say of which kind.
DiagnosedFinding ofUnknownKind(const char *Check) {
  DiagnosedFinding Result = finding(Evidence, 12);
  Result.Check = Check;
  return Result;
}

TEST(GraphNodes, UnknownKindIsRefutedOnlyWhereEachKindIs) {
  MadeRecording Extra, Freed, Kept;
  Extra.graph("aten::mm", {at(12)}, 100, 4, 8, true);
  Freed.graph("aten::mm", {at(12)}, 100, 4, 4, true);
  Kept.graph("aten::mm", {at(12)}, 100, 4, 400, false);
  const DiagnosedFinding Graph = ofUnknownKind("torch-retained-graph");
  // As 'grows' it is refuted, as 'overwrites' it is confirmed.
  const Verdict Open = judgeOne(Graph, Extra.Run);
  EXPECT_EQ(Open.Result, Outcome::NotMeasurable);
  EXPECT_NE(Open.Sentence.find("the file does not say of which kind"),
            std::string::npos)
      << Open.Sentence;
  EXPECT_NE(Open.Sentence.find("REFUTED as 'grows' or 'chains'"),
            std::string::npos)
      << Open.Sentence;
  EXPECT_NE(Open.Sentence.find("CONFIRMED as 'overwrites'"), std::string::npos)
      << Open.Sentence;
  EXPECT_EQ(Open.Rule,
            "graph-nodes-per-iteration: needs the kind of the finding");
  EXPECT_EQ(judgeOne(Graph, Freed.Run).Result, Outcome::Refuted);
  const Verdict Each = judgeOne(Graph, Kept.Run);
  EXPECT_EQ(Each.Result, Outcome::Confirmed);
  EXPECT_NE(Each.Sentence.find("this holds for each"), std::string::npos)
      << Each.Sentence;
}

TEST(GraphNodes, ExceptionOfAnUnknownKindIsNoVerdict) {
  MadeRecording Run;
  Run.graph("aten::gru", {at(12)}, 100, 4, 4, true);
  Site &Backward = Run.site("backward", {at(14)}, 100);
  Backward.Exceptions = 1;
  Backward.Thrown = {
      {"c10::Error", "Trying to backward through the graph a second time", 1}};
  const DiagnosedFinding State = ofUnknownKind("torch-undetached-hidden-state");
  EXPECT_EQ(judgeOne(State, Run.Run).Result, Outcome::NotMeasurable);
}

TEST(GraphNodes, RecordingWithoutNodesByLine) {
  Loop Run(272, /*IsKept=*/true);
  Run.Run.Sites[0].MostNodesAlive = -1;
  EXPECT_EQ(judgeOne(Loop::finding(20), Run.Run).Result,
            Outcome::NotMeasurable);
}

} // namespace
