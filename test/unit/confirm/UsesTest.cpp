// What has the cost that a finding speaks of, and is wanted: what the program
// does with copies, gradients, products and old values. And exceptions of the
// right kind about another tensor.
#include "Recordings.h"
#include <gtest/gtest.h>

using namespace torchtidy::confirm;
using torchtidy::FindingKind;

namespace {

Outcome resultOf(FindingKind Kind, const char *Evidence,
                 const MadeRecording &Run) {
  return judgeOne(ofKind(Kind, Evidence), Run.Run).Result;
}

Site &copying(MadeRecording &Run, const char *Operation) {
  Site &S = Run.site(Operation, {at(12)}, 60);
  S.Allocations = 60;
  S.AllocatedBytes = 60 * 4096;
  return S;
}

TEST(Uses, CopyOfATensorThatHasChanged) {
  MadeRecording Run;
  Site &Copy = copying(Run, "aten::contiguous");
  Copy.CopiedAgain = 59;
  EXPECT_EQ(resultOf(FindingKind::ContiguousAgain, "layout-copies", Run),
            Outcome::Confirmed);
  Copy.CopiedAgain = 29;
  EXPECT_EQ(resultOf(FindingKind::ContiguousAgain, "layout-copies", Run),
            Outcome::Refuted);
  // Of one that is copied for elementwise work it does not matter.
  EXPECT_EQ(resultOf(FindingKind::ContiguousNeedless, "layout-copies", Run),
            Outcome::Confirmed);
}

TEST(Uses, CopyThatIsReadByItsAddressOrViewed) {
  for (uint64_t Site::*Use : {&Site::ElementsAsked, &Site::HeldByView}) {
    MadeRecording Run;
    Site &Copy = copying(Run, "aten::contiguous");
    Copy.*Use = 60;
    EXPECT_EQ(resultOf(FindingKind::ContiguousNeedless, "layout-copies", Run),
              Outcome::Refuted);
    // Now and then.
    Copy.*Use = 10;
    EXPECT_EQ(resultOf(FindingKind::ContiguousNeedless, "layout-copies", Run),
              Outcome::NotMeasurable);
    // One copy would do for that.
    Copy.*Use = 60;
    Copy.CopiedAgain = 59;
    EXPECT_EQ(resultOf(FindingKind::ContiguousAgain, "layout-copies", Run),
              Outcome::Confirmed);
  }
}

TEST(Uses, RepeatedRowsThatAreWrittenOrMoreThanOne) {
  for (uint64_t Site::*Use : {&Site::WritesInto, &Site::NotStretched}) {
    MadeRecording Run;
    Site &Repeat = copying(Run, "aten::repeat");
    EXPECT_EQ(resultOf(FindingKind::RepeatForBroadcast, "layout-copies", Run),
              Outcome::Confirmed);
    Repeat.*Use = 60;
    EXPECT_EQ(resultOf(FindingKind::RepeatForBroadcast, "layout-copies", Run),
              Outcome::Refuted);
  }
}

/// A pass whose own gradients are dropped, and that leads on to another one.
MadeRecording passThatLeadsOn(uint64_t Applied) {
  MadeRecording Run;
  Site &Pass = Run.graph("aten::addmm", {at(12)}, 60, 1, 1, true);
  Pass.GradientsDropped = 240;
  Pass.FlowsInto = {1};
  Run.graph("aten::relu", {at(12)}, 60, 1, 1, true).FlowsInto = {2, 0};
  Run.graph("aten::tanh", {at(10)}, 60, 1, 1, true).GradientsApplied = Applied;
  return Run;
}

TEST(Uses, GradientsThatPassThroughToWhatIsTrained) {
  const MadeRecording Run = passThatLeadsOn(120);
  EXPECT_EQ(resultOf(FindingKind::UnusedGradients, "needless-backward", Run),
            Outcome::Refuted);
  // That these are applied is no use of this pass's own.
  EXPECT_EQ(resultOf(FindingKind::GeneratorInVain, "needless-backward", Run),
            Outcome::Confirmed);
  EXPECT_EQ(resultOf(FindingKind::UnusedGradients, "needless-backward",
                     passThatLeadsOn(0)),
            Outcome::Confirmed);
}

TEST(Uses, OneAppliedGradientInEachPassIsEnough) {
  MadeRecording Run;
  Site &Pass = Run.graph("aten::addmm", {at(12)}, 60, 1, 1, true);
  Pass.GradientsDropped = 240;
  Pass.GradientsApplied = 60;
  EXPECT_EQ(resultOf(FindingKind::UnusedGradients, "needless-backward", Run),
            Outcome::Refuted);
  Pass.GradientsApplied = 2;
  EXPECT_EQ(resultOf(FindingKind::UnusedGradients, "needless-backward", Run),
            Outcome::Confirmed);
}

TEST(Uses, GradientsThatTheProgramReads) {
  MadeRecording Run;
  Site &Pass = Run.graph("aten::addmm", {at(12)}, 60, 1, 1, true);
  Pass.GradientsDropped = 240;
  Pass.GradientsRead = 60;
  EXPECT_EQ(resultOf(FindingKind::UnusedGradients, "needless-backward", Run),
            Outcome::NotMeasurable);
  Pass.GradientsRead = 0;
  EXPECT_EQ(resultOf(FindingKind::UnusedGradients, "needless-backward", Run),
            Outcome::Confirmed);
}

TEST(Uses, GeneratorIsTheOperationThatMakesItsOutput) {
  MadeRecording Run;
  Run.graph("aten::mm", {at(12)}, 60, 1, 1, true).GradientsApplied = 60;
  Run.graph("aten::mm", {at(10)}, 60, 1, 1, true).GradientsDropped = 60;
  DiagnosedFinding InVain =
      ofKind(FindingKind::GeneratorInVain, "needless-backward");
  InVain.IterationSite = {File, 10, 10};
  EXPECT_EQ(judgeOne(InVain, Run.Run).Result, Outcome::Confirmed);
}

Site &throwing(MadeRecording &Run, unsigned Line, const char *Message) {
  Site &S = Run.site("backward", {at(Line)}, 60);
  S.Exceptions = 60;
  S.Thrown = {{"c10::Error", Message, 60, 0}};
  return S;
}

constexpr const char *Modified =
    "one of the variables needed for gradient computation has been modified by "
    "an inplace operation: [CPUFloatType [6, 6]] is at version 1; expected "
    "version 0 instead.";

TEST(Uses, WhatWasWrittenIsNoWeight) {
  for (const FindingKind Kind :
       {FindingKind::StaleThrows, FindingKind::StaleUnknown}) {
    MadeRecording Run;
    Site &Backward = throwing(Run, 12, Modified);
    EXPECT_EQ(resultOf(Kind, "exception", Run), Outcome::NotMeasurable);
    Backward.StaleLeaves = 60;
    EXPECT_EQ(resultOf(Kind, "exception", Run), Outcome::Confirmed);
  }
}

TEST(Uses, AnotherLineHasWrittenWhatWasSaved) {
  for (const FindingKind Kind : {FindingKind::SavedResultIsWritten,
                                 FindingKind::SavedOperandIsWritten}) {
    MadeRecording Run;
    Site &Write = Run.site("aten::mul_", {at(12)}, 60);
    Run.site("aten::add_", {at(14)}, 60).SavedWrites = 60;
    throwing(Run, 20, Modified);
    DiagnosedFinding Finding = ofKind(Kind, "exception");
    FindingNote Note;
    Note.Place = {File, 20, 20};
    Finding.Notes = {Note};
    EXPECT_EQ(judgeOne(Finding, Run.Run).Result, Outcome::NotMeasurable);
    Write.SavedWrites = 60;
    EXPECT_EQ(judgeOne(Finding, Run.Run).Result, Outcome::Confirmed);
  }
}

TEST(Uses, HalfPrecisionThatIsStored) {
  MadeRecording Run;
  Site &Product = throwing(Run, 12, "expected Float but found BFloat16");
  Product.OtherHalves = 60;
  EXPECT_EQ(resultOf(FindingKind::HalfOperand, "exception", Run),
            Outcome::NotMeasurable);
  Product.HalvesOfAutocast = 60;
  EXPECT_EQ(resultOf(FindingKind::HalfOperand, "exception", Run),
            Outcome::Confirmed);
}

TEST(Uses, ProductThatOutlivesItsStatement) {
  MadeRecording Run;
  copying(Run, "aten::add");
  Site &Product = copying(Run, "aten::mul");
  Product.FreedThere = 60;
  Product.FreedBehind = {at(12)};
  EXPECT_EQ(
      resultOf(FindingKind::UnfusedProduct, "allocations-per-iteration", Run),
      Outcome::Confirmed);
  Product.FreedBehind = {at(14)};
  EXPECT_EQ(
      resultOf(FindingKind::UnfusedProduct, "allocations-per-iteration", Run),
      Outcome::NotMeasurable);
}

TEST(Uses, OldValueThatIsThereWhenTheNextOperationBegins) {
  MadeRecording Run;
  Site &Made = copying(Run, "aten::clamp");
  Made.MostLiveBytes = 4096;
  Made.OperandsFreed = 60;
  EXPECT_EQ(
      resultOf(FindingKind::InplaceRebound, "allocations-per-iteration", Run),
      Outcome::Confirmed);
  Made.OperandsFreed = 1;
  EXPECT_EQ(
      resultOf(FindingKind::InplaceRebound, "allocations-per-iteration", Run),
      Outcome::NotMeasurable);
}

TEST(Uses, WholeMemoryThatIsKeptBesideItsView) {
  MadeRecording Run;
  Site &Made = Run.site("aten::full", {at(12)}, 100);
  Made.AllocatedBytes = 100 * 4096;
  Made.OwnAtSecond = 4096;
  Made.MostOwnAtHit = 100 * 4096;
  Made.WholeLater = 7;
  EXPECT_EQ(resultOf(FindingKind::ViewKept, "live-bytes-per-iteration", Run),
            Outcome::Confirmed);
  Made.WholeLater = 91;
  EXPECT_EQ(resultOf(FindingKind::ViewKept, "live-bytes-per-iteration", Run),
            Outcome::NotMeasurable);
}

/// A hook that is called more often from one backward to the next.
MadeRecording growingHook() {
  MadeRecording Run;
  Site &Backward = Run.site("backward", {at(20)}, 40);
  Site &Hook = Run.site("aten::norm", {at(12, "hook"), at(20)}, 820);
  for (uint64_t I = 1; I <= 40; ++I) {
    Sample Each;
    Each.Seconds = double(I);
    Each.Hit = I;
    Backward.Series.push_back(Each);
    Each.Hit = I * (I + 1) / 2;
    Hook.Series.push_back(Each);
  }
  return Run;
}

TEST(Uses, OneHookForEachOfMoreAndMoreTensors) {
  MadeRecording Run = growingHook();
  EXPECT_EQ(resultOf(FindingKind::HookPilesUp, "value", Run),
            Outcome::Confirmed);
  Site &Registered = Run.site("register_hook", {at(12)}, 820);
  EXPECT_EQ(resultOf(FindingKind::HookPilesUp, "value", Run), Outcome::Refuted);
  Registered.HookedAgain = 819;
  EXPECT_EQ(resultOf(FindingKind::HookPilesUp, "value", Run),
            Outcome::Confirmed);
}

TEST(Uses, GradientsInAFlatBuffer) {
  MadeRecording Run;
  Site &Zero = Run.site("aten::zero_", {at(12)}, 60);
  EXPECT_EQ(resultOf(FindingKind::ZeroGradInPlace, "peak-bytes", Run),
            Outcome::Confirmed);
  Zero.PartsWritten = 60;
  EXPECT_EQ(resultOf(FindingKind::ZeroGradInPlace, "peak-bytes", Run),
            Outcome::NotMeasurable);
}

TEST(Uses, ThreadThatAsksForItsGraph) {
  for (const FindingKind Kind :
       {FindingKind::ThreadUnguarded, FindingKind::ThreadStaticGuard}) {
    MadeRecording Run;
    Site &Pass = Run.graph("aten::addmm", {at(12)}, 60, 1, 1, false);
    EXPECT_EQ(resultOf(Kind, "peak-bytes", Run), Outcome::Confirmed);
    Pass.HitsAskedGrad = 60;
    EXPECT_EQ(resultOf(Kind, "peak-bytes", Run), Outcome::Refuted);
  }
}

TEST(Uses, LogarithmsOfPartsMayBeMeant) {
  MadeRecording Run;
  Site &Loss = Run.site("aten::nll_loss_nd", {at(12)}, 60);
  Loss.GivenNumbers = 60;
  EXPECT_EQ(resultOf(FindingKind::LossOfScores, "value", Run),
            Outcome::Confirmed);
  Loss.GivenNumbers = 0;
  Loss.GivenParts = 60;
  EXPECT_EQ(resultOf(FindingKind::LossOfScores, "value", Run),
            Outcome::NotMeasurable);
}

} // namespace
