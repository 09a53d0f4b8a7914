// The rules about results that are wrong without an error, and about what an
// exception says.
#include "Recordings.h"
#include "rules/Messages.h"
#include <gtest/gtest.h>

using namespace torchtidy::confirm;
using torchtidy::FindingKind;

namespace {

Site &makes(MadeRecording &Run, uint64_t Hits, uint64_t DiedAtOnce) {
  Site &S = Run.site("aten::add", {at(12)}, Hits);
  S.Allocations = Hits;
  S.AllocatedBytes = Hits * 64;
  S.DiedAtOnce = DiedAtOnce;
  return S;
}

TEST(Results, WhatIsGoneBeforeAnythingHasUsedItIsDropped) {
  const auto Dropped = ofKind(FindingKind::DiscardedComputation);
  MadeRecording Run;
  makes(Run, 40, 40);
  const Verdict V = judgeOne(Dropped, Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence, "the result of aten::add is gone before any operation "
                        "has used it, 40 of 40 times");
  MadeRecording Used;
  makes(Used, 40, 1);
  EXPECT_EQ(judgeOne(Dropped, Used.Run).Result, Outcome::Refuted);
  // x.to(torch::kFloat) of a tensor of that type makes nothing.
  MadeRecording Nothing;
  Nothing.site("aten::to", {at(12)}, 40);
  EXPECT_EQ(judgeOne(Dropped, Nothing.Run).Result, Outcome::NotMeasurable);
}

TEST(Results, TheLastResultOfTheStatementCounts) {
  // x.add(1).mul(2): what add() makes is used by mul().
  MadeRecording Run;
  makes(Run, 40, 0);
  makes(Run, 40, 40);
  EXPECT_EQ(judgeOne(ofKind(FindingKind::DiscardedComputation), Run.Run).Result,
            Outcome::Confirmed);
}

TEST(Results, AssignedToACopyOfAHandle) {
  const auto Copy = ofKind(FindingKind::WriteIntoLoopCopy);
  MadeRecording Run;
  makes(Run, 6, 6);
  EXPECT_EQ(judgeOne(Copy, Run.Run).Result, Outcome::Confirmed);
  // It may be used through the copy, and the original is not written all the
  // same.
  MadeRecording Used;
  makes(Used, 6, 0);
  EXPECT_EQ(judgeOne(Copy, Used.Run).Result, Outcome::NotMeasurable);
}

TEST(Results, LeavesThatNoStepChanges) {
  const auto Module = ofKind(FindingKind::UnregisteredSubmodule, "parameters");
  MadeRecording Run;
  Run.site("aten::empty", {at(12)}, 2).LeavesTrained = 2;
  // Nothing is known where nothing steps.
  EXPECT_EQ(judgeOne(Module, Run.Run).Result, Outcome::NotMeasurable);
  Site &Other = Run.site("aten::empty", {at(11)}, 2);
  Other.LeavesTrained = Other.LeavesStepped = 2;
  const Verdict V = judgeOne(Module, Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence, "2 of 2 leaf tensors made at this line get gradients, "
                        "and no step changes them, though a step changes "
                        "others");
  DiagnosedFinding Registered = Module;
  Registered.Statement = {File, 11, 11};
  EXPECT_EQ(judgeOne(Registered, Run.Run).Result, Outcome::Refuted);
}

TEST(Results, OptimizersOfTheSameParameters) {
  const auto Anew = ofKind(FindingKind::OptimizerInLoop);
  MadeRecording Run;
  Site &S = Run.site("optimizer", {at(12)}, 40);
  S.MadeAgain = 39;
  const Verdict V = judgeOne(Anew, Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence, "39 of 40 optimizers made at this line are for "
                        "parameters that the one before had stepped");
  // One for each fold, of a network of its own.
  S.MadeAgain = 0;
  EXPECT_EQ(judgeOne(Anew, Run.Run).Result, Outcome::Refuted);
  S.Hits = 2;
  EXPECT_EQ(judgeOne(Anew, Run.Run).Result, Outcome::NotMeasurable);
}

TEST(Messages, ThatOfTheMistakeCounts) {
  const auto Leaf = ofKind(FindingKind::LeafIsWritten, "exception");
  MadeRecording Run;
  Site &S = Run.site("aten::mm", {at(12)}, 5);
  S.Exceptions = 5;
  S.Thrown = {{"c10::Error", "mat1 and mat2 shapes cannot be multiplied", 5}};
  const Verdict Other = judgeOne(Leaf, Run.Run);
  EXPECT_EQ(Other.Result, Outcome::Refuted);
  EXPECT_EQ(Other.Sentence,
            "what was thrown there is something else: \"mat1 and mat2 shapes "
            "cannot be multiplied\", 5 iterations");
  S.Thrown.push_back({"c10::Error",
                      "a leaf Variable that requires grad is being used in an "
                      "in-place operation.",
                      2});
  S.Exceptions = 7;
  const Verdict V = judgeOne(Leaf, Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(*V.Number, 2);
  EXPECT_NE(V.Sentence.find("a leaf Variable"), std::string::npos)
      << V.Sentence;
}

TEST(Messages, PlacesThatTheFindingNames) {
  // A guard runs no operation; the backward() that would throw ran.
  DiagnosedFinding Guard =
      ofKind(FindingKind::GradModeNotRestored, "exception");
  Guard.Loop = {File, 10, 30};
  MadeRecording Run;
  Run.site("aten::mm", {at(15)}, 50);
  EXPECT_EQ(judgeOne(Guard, Run.Run).Result, Outcome::NotMeasurable);
  Guard.Notes.push_back({{File, 20, 20}, "trained here"});
  EXPECT_EQ(judgeOne(Guard, Run.Run).Result, Outcome::NotMeasurable);
  Run.site("backward", {at(20)}, 50);
  EXPECT_EQ(judgeOne(Guard, Run.Run).Result, Outcome::Refuted);
}

TEST(Messages, KindsThatNameNoneTakeAny) {
  EXPECT_TRUE(isMeant(std::nullopt, "whatever"));
  EXPECT_TRUE(isMeant(FindingKind::RegisteredTwice, "whatever"));
  EXPECT_FALSE(isMeant(FindingKind::NonLeafThrows, "whatever"));
  EXPECT_TRUE(
      isMeant(FindingKind::NonLeafThrows, "can't optimize a non-leaf Tensor"));
}

} // namespace
