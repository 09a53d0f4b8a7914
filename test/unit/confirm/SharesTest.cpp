// Lines of one loop that leak share its growth.
#include "Recordings.h"
#include <gtest/gtest.h>

using namespace torchtidy::confirm;
using torchtidy::FindingKind;

namespace {

DiagnosedFinding keeps(unsigned Line) {
  DiagnosedFinding Result = finding("graph-nodes-per-iteration", Line);
  Result.Check = "torch-retained-graph";
  Result.Kind = FindingKind::GraphGrows;
  return Result;
}

/// An operation that makes nodes which stay, in a loop in which 8 nodes and 800
/// bytes stay per iteration, from a time on.
void leak(MadeRecording &Run, std::vector<SourceLine> Stack, uint64_t Nodes,
          double From = 0) {
  Site &S = Run.kept("aten::mm", std::move(Stack), 100, Nodes);
  sample(S, [&](uint64_t Hit, Sample &Each) {
    Each.Seconds = From + double(Hit);
    Each.Nodes = int64_t(Hit * 8);
    Each.CpuBytes = int64_t(Hit * 800);
  });
}

const JudgedFinding &ofLine(const std::vector<JudgedFinding> &All,
                            unsigned Line) {
  for (const JudgedFinding &Each : All)
    if (Each.Finding.Line == Line)
      return Each;
  throw std::runtime_error("no such line");
}

TEST(Shares, TwoLinesOfALoopAddUpToIt) {
  MadeRecording Run;
  leak(Run, {at(12)}, 6);
  leak(Run, {at(15)}, 2);
  const auto All = judge({keeps(12), keeps(15)}, Run.Run);
  const Verdict &First = ofLine(All, 12).Result,
                &Other = ofLine(All, 15).Result;
  ASSERT_EQ(First.Result, Outcome::Confirmed);
  ASSERT_EQ(Other.Result, Outcome::Confirmed);
  EXPECT_DOUBLE_EQ(*First.Number, 6);
  EXPECT_DOUBLE_EQ(*Other.Number, 2);
  EXPECT_EQ(First.Sentence,
            "800 bytes of tensor memory and 8 graph nodes kept per iteration, "
            "100 iterations; it shares that with line 15, and 75 % of the "
            "nodes are its own");
  EXPECT_EQ(First.CostText, "58.6 KiB of 78.1 KiB in this run");
  EXPECT_EQ(Other.CostText, "19.5 KiB of 78.1 KiB in this run");
  EXPECT_DOUBLE_EQ(First.CostAmount, 3 * Other.CostAmount);
}

TEST(Shares, OneLineHasAll) {
  MadeRecording Run;
  leak(Run, {at(12)}, 6);
  const Verdict V = judgeOne(keeps(12), Run.Run);
  EXPECT_DOUBLE_EQ(*V.Number, 8);
  EXPECT_EQ(V.CostText, "78.1 KiB in this run");
  EXPECT_EQ(V.Sentence.find("shares"), std::string::npos);
}

TEST(Shares, TwoFindingsOfOneLineAreOne) {
  MadeRecording Run;
  leak(Run, {at(12)}, 6);
  for (const JudgedFinding &Each : judge({keeps(12), keeps(12)}, Run.Run)) {
    EXPECT_DOUBLE_EQ(*Each.Result.Number, 8);
    EXPECT_EQ(Each.Result.Sentence.find("shares"), std::string::npos);
  }
}

TEST(Shares, LoopsOneAfterTheOtherShareNothing) {
  MadeRecording Run;
  leak(Run, {at(12)}, 6);
  leak(Run, {at(15)}, 2, 200);
  for (const JudgedFinding &Each : judge({keeps(12), keeps(15)}, Run.Run))
    EXPECT_EQ(Each.Result.Sentence.find("shares"), std::string::npos);
}

TEST(Shares, FunctionsThatAreCalledApartShareNothing) {
  MadeRecording Run;
  leak(Run, {at(12, "train"), at(80, "first")}, 6);
  leak(Run, {at(15, "test"), at(90, "second")}, 2);
  for (const JudgedFinding &Each : judge({keeps(12), keeps(15)}, Run.Run))
    EXPECT_EQ(Each.Result.Sentence.find("shares"), std::string::npos);
}

TEST(Shares, WhoIsNotConfirmedHasNone) {
  MadeRecording Run;
  leak(Run, {at(12)}, 6);
  Site &S = Run.graph("aten::mm", {at(15)}, 100, 2, 2, true);
  sampleNodes(S, [](uint64_t Hit) { return int64_t(Hit * 8); });
  const auto All = judge({keeps(12), keeps(15)}, Run.Run);
  EXPECT_DOUBLE_EQ(*ofLine(All, 12).Result.Number, 8);
  EXPECT_EQ(ofLine(All, 15).Result.Result, Outcome::Refuted);
}

} // namespace
