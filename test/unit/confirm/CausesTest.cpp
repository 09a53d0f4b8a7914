// What has the cost that a finding speaks of, and not its cause.
#include "Recordings.h"
#include <gtest/gtest.h>

using namespace torchtidy::confirm;
using torchtidy::FindingKind;

namespace {

Outcome resultOf(FindingKind Kind, const char *Evidence,
                 const MadeRecording &Run) {
  return judgeOne(ofKind(Kind, Evidence), Run.Run).Result;
}

TEST(Causes, CopyToADeviceIsNoConversion) {
  for (const FindingKind Kind :
       {FindingKind::AllocateOnDevice, FindingKind::DeviceRoundTrip}) {
    MadeRecording Run;
    Site &To = Run.site("aten::to", {at(12)}, 60);
    To.Copies = {{"cpu", "cpu", true, false, 60, 60 * 32}};
    EXPECT_EQ(resultOf(Kind, "copies-per-iteration", Run),
              Outcome::NotMeasurable);
    To.Copies = {{"cpu", "cuda", false, false, 60, 60 * 32}};
    EXPECT_EQ(resultOf(Kind, "copies-per-iteration", Run), Outcome::Confirmed);
  }
}

TEST(Causes, CopyForItsSizesIsGoneAtOnce) {
  MadeRecording Run;
  Site &To = Run.site("aten::to", {at(12)}, 60);
  To.Copies = {{"cpu", "cpu", true, false, 60, 60 * 32}};
  To.DiedAtOnce = 60;
  EXPECT_EQ(
      resultOf(FindingKind::TransferForMetadata, "copies-per-iteration", Run),
      Outcome::Confirmed);
  To.DiedAtOnce = 0;
  EXPECT_EQ(
      resultOf(FindingKind::TransferForMetadata, "copies-per-iteration", Run),
      Outcome::NotMeasurable);
}

TEST(Causes, CloneThatIsTheOnlyCopyNowAndThen) {
  MadeRecording Run;
  Site &Clone = Run.site("aten::clone", {at(12)}, 60);
  Clone.Allocations = 60;
  Clone.AllocatedBytes = 60 * 64;
  Site &To = Run.site("aten::to", {at(12)}, 60);
  To.Copies = {{"cpu", "cpu", true, false, 60, 60 * 32}};
  EXPECT_EQ(resultOf(FindingKind::RedundantClone, "copies-per-iteration", Run),
            Outcome::Confirmed);
  To.Copies.front().Count = 40;
  EXPECT_EQ(resultOf(FindingKind::RedundantClone, "copies-per-iteration", Run),
            Outcome::Refuted);
}

TEST(Causes, CloneOfWhatTheLineComputes) {
  MadeRecording Run;
  Site &Clone = Run.site("aten::clone", {at(12)}, 60);
  Clone.Allocations = 60;
  Clone.AllocatedBytes = 60 * 64;
  EXPECT_EQ(resultOf(FindingKind::RedundantClone, "copies-per-iteration", Run),
            Outcome::NotMeasurable);
  Run.site("aten::mm", {at(12)}, 60).Allocations = 60;
  EXPECT_EQ(resultOf(FindingKind::RedundantClone, "copies-per-iteration", Run),
            Outcome::Confirmed);
}

TEST(Causes, CycleIsAliveAtTheEnd) {
  for (const FindingKind Kind :
       {FindingKind::CycleThroughHook, FindingKind::CycleThroughCallback,
        FindingKind::CycleThroughPart, FindingKind::OutputInSavedData}) {
    MadeRecording Run;
    Site &Made = Run.site("aten::rand", {at(12)}, 100);
    Made.AllocatedBytes = 100 * 4096;
    Made.OwnAtSecond = 4096;
    Made.MostOwnAtHit = 100 * 4096;
    EXPECT_EQ(resultOf(Kind, "live-bytes-per-iteration", Run),
              Outcome::Refuted);
    Made.LiveBytes = 100 * 4096;
    EXPECT_EQ(resultOf(Kind, "live-bytes-per-iteration", Run),
              Outcome::Confirmed);
  }
}

TEST(Causes, WhatIsKeptIsACopyAndNoView) {
  MadeRecording Run;
  Site &Made = Run.site("aten::rand", {at(12)}, 100);
  Made.AllocatedBytes = 100 * 4096;
  Made.OwnAtSecond = 4096;
  Made.MostOwnAtHit = 100 * 4096;
  EXPECT_EQ(resultOf(FindingKind::ViewKept, "live-bytes-per-iteration", Run),
            Outcome::Confirmed);
  Made.Operation = "aten::contiguous";
  EXPECT_EQ(resultOf(FindingKind::ViewKept, "live-bytes-per-iteration", Run),
            Outcome::Refuted);
}

TEST(Causes, OperationsThatRecordAGraph) {
  MadeRecording Run;
  Site &Made = Run.site("aten::tanh", {at(12)}, 60);
  Made.Allocations = 120;
  Made.AllocatedBytes = 120 * 64;
  EXPECT_EQ(resultOf(FindingKind::InplaceOpportunity,
                     "allocations-per-iteration", Run),
            Outcome::Confirmed);
  Made.NodesMade = 60;
  EXPECT_EQ(resultOf(FindingKind::InplaceOpportunity,
                     "allocations-per-iteration", Run),
            Outcome::Refuted);
}

TEST(Causes, MessageOfOtherTypes) {
  MadeRecording Run;
  Site &Loss = Run.site("backward", {at(12)}, 20);
  Loss.Exceptions = 20;
  Loss.Thrown = {
      {"c10::Error", "Found dtype Double but expected Float", 20, 0}};
  EXPECT_EQ(resultOf(FindingKind::HalfLoss, "exception", Run),
            Outcome::Refuted);
  Loss.Thrown.front().Message = "Found dtype Half but expected Float";
  EXPECT_EQ(resultOf(FindingKind::HalfLoss, "exception", Run),
            Outcome::Confirmed);
}

TEST(Causes, LeafOfAFunctionThatTheLineCalls) {
  MadeRecording Run;
  Site &Write = Run.site("aten::mul_", {at(40, "shrink"), at(12)}, 20);
  Write.Exceptions = 20;
  Write.Thrown = {{"c10::Error",
                   "a leaf Variable that requires grad is being used in an "
                   "in-place operation.",
                   20, 0}};
  EXPECT_EQ(resultOf(FindingKind::LeafIsWritten, "exception", Run),
            Outcome::Refuted);
  Write.Stack = {at(12)};
  EXPECT_EQ(resultOf(FindingKind::LeafIsWritten, "exception", Run),
            Outcome::Confirmed);
}

TEST(Causes, PassesThatThrowNowAndThen) {
  MadeRecording Run;
  Run.site("aten::mm", {at(12)}, 100);
  Site &Backward = Run.site("backward", {at(20)}, 100);
  Backward.Exceptions = 25;
  Backward.Thrown = {{"c10::Error",
                      "element 0 of tensors does not require grad and does not "
                      "have a grad_fn",
                      25, 0}};
  DiagnosedFinding Off = ofKind(FindingKind::GradModeNotRestored, "exception");
  FindingNote Note;
  Note.Place = {File, 20, 20};
  Off.Notes = {Note};
  EXPECT_EQ(judgeOne(Off, Run.Run).Result, Outcome::NotMeasurable);
  Backward.Exceptions = Backward.Thrown.front().Count = 90;
  EXPECT_EQ(judgeOne(Off, Run.Run).Result, Outcome::Confirmed);
}

TEST(Causes, GradientsThatAnotherStepAppliesAreWhatSpoiledMeans) {
  MadeRecording Run;
  Site &Pass = Run.graph("aten::mm", {at(12)}, 60, 1, 1, true);
  Pass.GradientsApplied = 60;
  EXPECT_EQ(resultOf(FindingKind::GeneratorIsSpoiled, "needless-backward", Run),
            Outcome::NotMeasurable);
  EXPECT_EQ(resultOf(FindingKind::GeneratorInVain, "needless-backward", Run),
            Outcome::Refuted);
}

TEST(Causes, NumbersThatNoSoftmaxHasMade) {
  MadeRecording Run;
  Site &Loss = Run.site("aten::cross_entropy_loss", {at(12)}, 20);
  Loss.GivenFractions = 20;
  EXPECT_EQ(resultOf(FindingKind::LossScalesTwice, "value", Run),
            Outcome::NotMeasurable);
  Run.site("aten::sigmoid", {at(12)}, 20);
  EXPECT_EQ(resultOf(FindingKind::LossScalesTwice, "value", Run),
            Outcome::Confirmed);
}

TEST(Causes, CrossEntropyLeavesLogarithmsAsTheyAre) {
  MadeRecording Run;
  Site &Loss = Run.site("aten::cross_entropy_loss", {at(12)}, 20);
  Loss.GivenLogarithms = 20;
  EXPECT_EQ(resultOf(FindingKind::LossOfLogarithms, "value", Run),
            Outcome::Refuted);
  Loss.Operation = "aten::binary_cross_entropy_with_logits";
  EXPECT_EQ(resultOf(FindingKind::LossOfLogarithms, "value", Run),
            Outcome::Confirmed);
}

} // namespace
