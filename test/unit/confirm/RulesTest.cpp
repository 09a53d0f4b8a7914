// The rules of counts, and what all rules have in common.
#include "Recordings.h"
#include "rules/Rule.h"
#include "support/Errors.h"
#include <gtest/gtest.h>

using namespace torchtidy::confirm;
using torchtidy::FindingKind;

namespace {

TEST(Judge, EveryEvidenceOfTheRegistryHasARule) {
#define CHECK(Name, Class, Level, Folder, Priority, Evidence)                  \
  EXPECT_NE(findRule(Evidence), nullptr) << Name;
#include "Checks.def"
}

TEST(Judge, LineThatDidNotRunIsNotReached) {
  MadeRecording Run;
  Run.site("aten::mm", {at(12)}, 100);
  EXPECT_EQ(judgeOne(finding("peak-bytes", 40), Run.Run).Result,
            Outcome::NotReached);
}

TEST(Judge, LostEventsProveNothing) {
  MadeRecording Run;
  Run.site("aten::mm", {at(12)}, 100);
  Run.Run.UnattributedEvents = 7;
  EXPECT_EQ(judgeOne(finding("peak-bytes", 40), Run.Run).Result,
            Outcome::NotMeasurable);
}

TEST(Judge, WhatIsNotMeasuredSaysWhy) {
  MadeRecording Run;
  Run.site("aten::mm", {at(12)}, 100);
  Run.Run.Capabilities["graph-nodes"] = {false,
                                         "the hook does not take effect"};
  const Verdict V = judgeOne(finding("peak-bytes", 12), Run.Run);
  EXPECT_EQ(V.Result, Outcome::NotMeasurable);
  EXPECT_EQ(V.Sentence, "the hook does not take effect");
}

TEST(Judge, UnknownEvidence) {
  MadeRecording Run;
  Run.site("aten::mm", {at(12)}, 100);
  EXPECT_EQ(judgeOne(finding("moon-phase", 12), Run.Run).Result,
            Outcome::NotMeasurable);
}

TEST(Judge, FindingsOfOtherSources) {
  MadeRecording Run;
  Run.site("aten::mm", {at(12)}, 100);
  DiagnosedFinding Other = finding("peak-bytes", 12);
  Other.Statement.File = "/elsewhere/other.cpp";
  EXPECT_THROW(requireCommonFile({Other}, Run.Run), UserError);
  EXPECT_NO_THROW(
      requireCommonFile({Other, finding("peak-bytes", 1)}, Run.Run));
}

TEST(Judge, CostlyFindingsComeFirst) {
  MadeRecording Run;
  for (unsigned Line : {12, 13}) {
    Site &S = Run.site("aten::zeros", {at(Line)}, 100);
    S.Allocations = 100;
    S.AllocatedBytes = Line == 12 ? 1 << 10 : 1 << 24;
  }
  Run.site("step:SGD", {at(14)}, 100).UnclearedSteps = 99;
  Run.site("step:SGD", {at(15)}, 100);
  const auto All = judge({finding("gradient-accumulation", 15),
                          finding("allocations-per-iteration", 12),
                          finding("allocations-per-iteration", 13),
                          finding("gradient-accumulation", 14)},
                         Run.Run);
  ASSERT_EQ(All.size(), 4u);
  EXPECT_EQ(All[0].Finding.Line, 14u);
  EXPECT_EQ(All[1].Finding.Line, 13u);
  EXPECT_EQ(All[2].Finding.Line, 12u);
  EXPECT_EQ(All[3].Finding.Line, 15u);
}

TEST(Gradients, EveryStepIsConfirmed) {
  MadeRecording Run;
  Run.site("step:SGD", {at(14)}, 50).UnclearedSteps = 49;
  const Verdict V = judgeOne(finding("gradient-accumulation", 14), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence, "49 of 50 steps left gradients behind that the next "
                        "step applied again");
}

TEST(Gradients, FewStepsAreEnough) {
  MadeRecording Run;
  Run.site("step:SGD", {at(14)}, 5).UnclearedSteps = 4;
  EXPECT_EQ(judgeOne(finding("gradient-accumulation", 14), Run.Run).Result,
            Outcome::Confirmed);
}

TEST(Gradients, ClearedIsRefuted) {
  MadeRecording Run;
  Run.site("step:Adam", {at(14)}, 50);
  EXPECT_EQ(judgeOne(finding("gradient-accumulation", 14), Run.Run).Result,
            Outcome::Refuted);
}

TEST(Gradients, OneStepSaysNothing) {
  MadeRecording Run;
  Run.site("step:Adam", {at(14)}, 1);
  EXPECT_EQ(judgeOne(finding("gradient-accumulation", 14), Run.Run).Result,
            Outcome::NotMeasurable);
}

TEST(Gradients, ASingleRepeatAmongManySaysNothing) {
  MadeRecording Run;
  Run.site("step:Adam", {at(14)}, 100).UnclearedSteps = 1;
  EXPECT_EQ(judgeOne(finding("gradient-accumulation", 14), Run.Run).Result,
            Outcome::NotMeasurable);
}

TEST(Gradients, ParametersChangedByHand) {
  MadeRecording Run;
  Run.site("aten::sub_", {at(14)}, 40).UnclearedSteps = 39;
  EXPECT_EQ(judgeOne(finding("gradient-accumulation", 14), Run.Run).Result,
            Outcome::Confirmed);
}

TEST(PeakBytes, GraphForNobodyIsConfirmed) {
  MadeRecording Run;
  for (unsigned Layer : {5, 6, 7}) {
    Site &S = Run.graph("aten::conv2d", {at(Layer, "forward"), at(12)}, 16, 1,
                        3, false);
    sample(S, [=](uint64_t Hit, Sample &Each) {
      Each.CpuBytes = (1 << 20) * int64_t(Layer);
    });
  }
  const Verdict V = judgeOne(finding("peak-bytes", 12), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence, "3 graph nodes made per pass and run by no backward, "
                        "live tensor memory rises by 2 MiB in it, 16 passes");
}

TEST(PeakBytes, OnePassIsEnough) {
  MadeRecording Run;
  Run.graph("aten::conv2d", {at(5, "forward"), at(12)}, 1, 3, 3, false);
  const Verdict V = judgeOne(finding("peak-bytes", 12), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence,
            "3 graph nodes made per pass and run by no backward, 1 pass");
}

TEST(PeakBytes, UnderAGuardIsRefuted) {
  MadeRecording Run;
  Run.site("aten::conv2d", {at(5, "forward"), at(12)}, 16);
  EXPECT_EQ(judgeOne(finding("peak-bytes", 12), Run.Run).Result,
            Outcome::Refuted);
}

TEST(PeakBytes, GraphThatABackwardRunsIsRefuted) {
  MadeRecording Run;
  Run.graph("aten::conv2d", {at(5, "forward"), at(12)}, 16, 3, 3, true);
  EXPECT_EQ(judgeOne(finding("peak-bytes", 12), Run.Run).Result,
            Outcome::Refuted);
}

/// Line 12 goes on with what line 10 has made.
static DiagnosedFinding undetached() {
  DiagnosedFinding Result = finding("needless-backward", 12);
  Result.Notes.push_back(
      {{File, 10, 10}, "made here", torchtidy::NoteRole::GraphBuilt});
  return Result;
}

TEST(NeedlessBackward, CountsTheNodesOfTheLineThatBuildsTheGraph) {
  MadeRecording Run;
  Run.graph("aten::linear", {at(5, "forward"), at(10)}, 100, 3, 3, true);
  Run.graph("aten::linear", {at(8, "forward"), at(12)}, 100, 2, 2, true);
  const Verdict V = judgeOne(undetached(), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence, "line 10 makes 300 graph nodes, and a backward() runs "
                        "one of them 300 times");
  EXPECT_EQ(V.CostText, "300 nodes gone through in this run");
}

TEST(NeedlessBackward, OfTheLineItselfWhereNoNoteSaysAnother) {
  MadeRecording Run;
  Run.graph("aten::linear", {at(8, "forward"), at(12)}, 1, 2, 2, true);
  const Verdict V = judgeOne(finding("needless-backward", 12), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence,
            "line 12 makes 2 graph nodes, and a backward() runs one of them 2 "
            "times");
}

TEST(NeedlessBackward, OfTwoBackwardsThroughOneGraphOneMayBeInVain) {
  MadeRecording Run;
  Site &S =
      Run.graph("aten::linear", {at(5, "forward"), at(10)}, 100, 3, 3, true);
  Run.site("aten::linear", {at(8, "forward"), at(12)}, 100);
  S.GradientsApplied = 600;
  S.GradientsDropped = 588;
  // One backward, whose gradients a step applies every other time.
  EXPECT_EQ(judgeOne(undetached(), Run.Run).Result, Outcome::Refuted);
  S.NodesRun *= 2;
  const Verdict V = judgeOne(undetached(), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence, "line 10 makes 300 graph nodes, and a backward() runs "
                        "one of them 600 times; 588 of 1,188 gradients that "
                        "come through it are dropped");
  // All are applied; by whom, the run does not tell.
  S.GradientsDropped = 0;
  EXPECT_EQ(judgeOne(undetached(), Run.Run).Result, Outcome::Refuted);
  DiagnosedFinding Spoiled = undetached();
  Spoiled.Kind = FindingKind::GeneratorIsSpoiled;
  EXPECT_EQ(judgeOne(Spoiled, Run.Run).Result, Outcome::NotMeasurable);
}

TEST(NeedlessBackward, GraphThatNoneGoesThroughIsRefuted) {
  MadeRecording Run;
  Run.graph("aten::linear", {at(5, "forward"), at(10)}, 100, 3, 3, false);
  Run.graph("aten::linear", {at(8, "forward"), at(12)}, 100, 2, 2, true);
  const Verdict V = judgeOne(undetached(), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Refuted);
  EXPECT_EQ(V.Sentence, "no backward() goes through the graph of line 10, 100 "
                        "times");
  MadeRecording Guarded;
  Guarded.site("aten::linear", {at(5, "forward"), at(10)}, 100);
  Guarded.graph("aten::linear", {at(8, "forward"), at(12)}, 100, 2, 2, true);
  EXPECT_EQ(judgeOne(undetached(), Guarded.Run).Result, Outcome::Refuted);
}

TEST(NeedlessBackward, NotReached) {
  MadeRecording Run;
  Run.graph("aten::linear", {at(99)}, 100, 3, 3, true);
  EXPECT_EQ(judgeOne(undetached(), Run.Run).Result, Outcome::NotReached);
}

TEST(PeakBytes, GradientsFilledWithZerosAreCounted) {
  MadeRecording Run;
  Run.site("aten::zero_", {at(12)}, 80);
  Run.site("aten::mul", {at(13)}, 20);
  DiagnosedFinding Zeros = finding("peak-bytes", 12);
  Zeros.Kind = FindingKind::ZeroGradInPlace;
  const Verdict V = judgeOne(Zeros, Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence, "80 gradients kept and filled with zeros in this run");
  Zeros = finding("peak-bytes", 13);
  Zeros.Kind = FindingKind::ZeroGradInPlace;
  EXPECT_EQ(judgeOne(Zeros, Run.Run).Result, Outcome::Refuted);
}

TEST(PeakBytes, EvaluationAtTheLineOfTrainingIsConfirmed) {
  // Epochs of 20 training passes, each followed by 20 of evaluation.
  MadeRecording Run;
  Site &S = Run.graph("aten::addmm", {at(12), at(30)}, 200, 1, 1, true);
  S.NodesRun = 100;
  S.Stretches = {{96, 96, 96}, {4, 84, 4}, {1, 20, 0}};
  const Verdict V = judgeOne(finding("peak-bytes", 12), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence, "1 graph node made per pass and run by no backward, "
                        "100 passes of 200");
}

TEST(PeakBytes, OneOfTwentyIsChosen) {
  // Which one the backward() needs is known when all are there.
  MadeRecording Run;
  Site &S = Run.graph("aten::addmm", {at(12)}, 600, 1, 2, true);
  S.NodesRun = 30;
  S.Stretches = {{29, 580, 29}, {1, 20, 1}};
  EXPECT_EQ(judgeOne(finding("peak-bytes", 12), Run.Run).Result,
            Outcome::NotMeasurable);
  // And an evaluation of 200 behind it.
  S.Hits += 200;
  S.NodesMade += 200;
  S.Stretches.push_back({1, 200, 0});
  EXPECT_EQ(judgeOne(finding("peak-bytes", 12), Run.Run).Result,
            Outcome::Confirmed);
}

TEST(PeakBytes, NodesThatLeadToNoParameterAreNoPasses) {
  MadeRecording Run;
  Run.graph("aten::addmm", {at(12)}, 100, 3, 3, true);
  Run.graph("aten::softmax", {at(12)}, 100, 3, 3, false);
  // Half of what an operation makes in each pass.
  Site &Half = Run.graph("aten::native_layer_norm", {at(12)}, 100, 2, 2, true);
  Half.NodesRun = 100;
  Half.Stretches = {{100, 200, 100}};
  EXPECT_EQ(judgeOne(finding("peak-bytes", 12), Run.Run).Result,
            Outcome::Refuted);
}

TEST(PeakBytes, OneOfTwoCallersWithoutBackwardIsConfirmed) {
  MadeRecording Run;
  Run.graph("aten::conv2d", {at(12, "predict"), at(30)}, 100, 3, 3, true);
  Run.graph("aten::conv2d", {at(12, "predict"), at(40)}, 10, 3, 3, false);
  const Verdict V = judgeOne(finding("peak-bytes", 12), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Iterations, 10u);
}

TEST(Allocations, TensorMadeInEachIteration) {
  MadeRecording Run;
  Site &S = Run.site("aten::empty", {at(12)}, 80);
  S.Allocations = 80;
  S.AllocatedBytes = 80 * 131072;
  const Verdict V = judgeOne(finding("allocations-per-iteration", 12), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence, "1 allocation of 128 KiB per iteration by aten::empty, "
                        "80 iterations");
}

TEST(Allocations, OneCannotStandForAll) {
  const DiagnosedFinding Found = finding("allocations-per-iteration", 12);
  // kept.push_back(torch::zeros({8})): each is there at the end.
  MadeRecording Kept;
  Site &S = Kept.site("aten::zeros", {at(12)}, 60);
  S.Allocations = 60;
  S.AllocatedBytes = 60 * 32;
  S.MostLiveBytes = 60 * 32;
  const Verdict V = judgeOne(Found, Kept.Run);
  EXPECT_EQ(V.Result, Outcome::Refuted);
  EXPECT_EQ(V.Sentence, "up to 60 tensors of this line are alive at once, so "
                        "one cannot stand for all, 60 iterations");
  S.MostLiveBytes = 2 * 32;
  EXPECT_EQ(judgeOne(Found, Kept.Run).Result, Outcome::Confirmed);
  S.MostLiveBytes = 6 * 32;
  EXPECT_EQ(judgeOne(Found, Kept.Run).Result, Outcome::NotMeasurable);
  S.MostLiveBytes = 32;
  S.Shapes = {{"[1,4]", 1}, {"[2,4]", 1}, {"[3,4]", 1}, {"[4,4]", 1}};
  S.OtherShapes = 56;
  EXPECT_EQ(judgeOne(Found, Kept.Run).Sentence,
            "the sizes that aten::zeros is given differ: [1,4]; [2,4]; [3,4]; "
            "[4,4]; and others, 60 iterations");
  // The last batch of an epoch is smaller.
  S.Shapes = {{"[64,4]", 57}, {"[20,4]", 3}};
  S.OtherShapes = 0;
  EXPECT_EQ(judgeOne(Found, Kept.Run).Result, Outcome::Confirmed);
}

TEST(Allocations, WhatIsNoProductIsNotFused) {
  // a * b + t, of two numbers; and three more results in the line.
  MadeRecording Run;
  for (const char *Operation : {"aten::add", "aten::tanh", "aten::mean"}) {
    Site &S = Run.site(Operation, {at(12)}, 50);
    S.Allocations = 50;
    S.AllocatedBytes = 50 * 1024;
  }
  DiagnosedFinding Unfused = finding("allocations-per-iteration", 12);
  Unfused.Kind = FindingKind::UnfusedScaling;
  EXPECT_EQ(judgeOne(Unfused, Run.Run).Result, Outcome::Refuted);
}

TEST(Allocations, ResultsOfOtherOperationsAreRefuted) {
  MadeRecording Run;
  Site &S = Run.site("aten::add", {at(12)}, 80);
  S.Allocations = 80;
  S.AllocatedBytes = 80 * 131072;
  EXPECT_EQ(judgeOne(finding("allocations-per-iteration", 12), Run.Run).Result,
            Outcome::Refuted);
}

TEST(Allocations, TemporariesAreThoseBeyondTheResult) {
  MadeRecording Run;
  for (unsigned Line : {12, 13}) {
    Site &Sum = Run.site("aten::add", {at(Line)}, 80);
    Sum.Allocations = 80;
    Sum.AllocatedBytes = 80 * 1024;
  }
  Site &Product = Run.site("aten::mul", {at(12)}, 80);
  Product.Allocations = 80;
  Product.AllocatedBytes = 80 * 1024;
  Product.FreedThere = 80;
  Product.FreedBehind = {at(12)};
  DiagnosedFinding Unfused = finding("allocations-per-iteration", 12);
  Unfused.Kind = FindingKind::UnfusedProduct;
  const Verdict V = judgeOne(Unfused, Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence, "2 allocations per iteration by the operations of this "
                        "line, 80 iterations");
  Unfused = finding("allocations-per-iteration", 13);
  Unfused.Kind = FindingKind::InplaceOpportunity;
  EXPECT_EQ(judgeOne(Unfused, Run.Run).Result, Outcome::Refuted);
}

TEST(Allocations, OfWhatTakesThePlaceOfItsOperand) {
  MadeRecording Run;
  Site &Scaled = Run.site("aten::mul", {at(12)}, 80);
  Scaled.Allocations = 80;
  Scaled.AllocatedBytes = 80 * 1024;
  Scaled.MostLiveBytes = 2 * 1024;
  Scaled.OperandsFreed = 80;
  DiagnosedFinding Rebound = finding("allocations-per-iteration", 12);
  Rebound.Kind = FindingKind::InplaceRebound;
  const Verdict V = judgeOne(Rebound, Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence, "1 allocation per iteration by the operations of this "
                        "line, 80 iterations, at most 2 tensors alive at once");
  // Another holds what was there.
  Scaled.MostLiveBytes = 80 * 1024;
  EXPECT_EQ(judgeOne(Rebound, Run.Run).Result, Outcome::Refuted);
  Scaled.MostLiveBytes = 6 * 1024;
  EXPECT_EQ(judgeOne(Rebound, Run.Run).Result, Outcome::NotMeasurable);
  // In place.
  Scaled.Allocations = 0;
  EXPECT_EQ(judgeOne(Rebound, Run.Run).Result, Outcome::Refuted);
}

TEST(Allocations, StatementOfSeveralLines) {
  // The line table gives the line of the part that calls.
  MadeRecording Run;
  Site &S = Run.site("aten::zeros", {at(14)}, 80);
  S.Allocations = 80;
  S.AllocatedBytes = 80;
  EXPECT_EQ(
      judgeOne(finding("allocations-per-iteration", 12, 15), Run.Run).Result,
      Outcome::Confirmed);
}

TEST(Allocations, BranchThatWasNotTakenIsNotReached) {
  MadeRecording Run;
  Run.site("aten::mm", {at(11)}, 80);
  DiagnosedFinding Planted = finding("allocations-per-iteration", 12);
  Planted.Loop = {File, 10, 20};
  EXPECT_EQ(judgeOne(Planted, Run.Run).Result, Outcome::NotReached);
}

TEST(Copies, ConversionInEachIteration) {
  MadeRecording Run;
  Run.site("aten::to", {at(12)}, 150).Copies = {
      {"cpu", "cpu", true, false, 150, 150 * 96}};
  const Verdict V = judgeOne(finding("copies-per-iteration", 12), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence,
            "1 conversion per iteration, 96 bytes each time, 150 iterations");
}

TEST(Copies, OfAnotherTensorEachTimeIsRefuted) {
  MadeRecording Run;
  Site &To = Run.site("aten::to", {at(12)}, 60);
  To.Copies = {{"cpu", "cpu", true, false, 60, 60 * 32}};
  DiagnosedFinding Same = finding("copies-per-iteration", 12);
  Same.Kind = FindingKind::TransferConverts;
  const Verdict V = judgeOne(Same, Run.Run);
  EXPECT_EQ(V.Result, Outcome::Refuted);
  EXPECT_EQ(V.Sentence, "what is copied is another tensor each time, or has "
                        "changed: 0 of 60 copies repeat the one before, 60 "
                        "iterations");
  To.CopiedAgain = 59;
  EXPECT_EQ(judgeOne(Same, Run.Run).Result, Outcome::Confirmed);
  // Of a check that says nothing of the sort.
  To.CopiedAgain = 0;
  Same.Kind = FindingKind::TransferSamples;
  EXPECT_EQ(judgeOne(Same, Run.Run).Result, Outcome::Confirmed);
}

TEST(Copies, TransferOfOthersIsRefutedWithoutADevice) {
  MadeRecording Run;
  Run.site("aten::to", {at(12)}, 80).AskedAgain = 3;
  DiagnosedFinding Transfer = finding("copies-per-iteration", 12);
  Transfer.Kind = FindingKind::TransferMoves;
  EXPECT_EQ(judgeOne(Transfer, Run.Run).Result, Outcome::Refuted);
}

TEST(Copies, TransferWithoutADeviceIsNotMeasurable) {
  MadeRecording Run;
  Run.site("aten::to", {at(12)}, 80).AskedAgain = 79;
  DiagnosedFinding Transfer = finding("copies-per-iteration", 12);
  Transfer.Kind = FindingKind::TransferMoves;
  EXPECT_EQ(judgeOne(Transfer, Run.Run).Result, Outcome::NotMeasurable);
  Run.Run.CudaDevice = "NVIDIA H200";
  EXPECT_EQ(judgeOne(Transfer, Run.Run).Result, Outcome::Refuted);
}

TEST(Copies, TransferThatLeavesNoOperationIsNotMeasurable) {
  // '.to(device)' of a tensor that is there may be seen by nobody.
  MadeRecording Run;
  Run.site("aten::mm", {at(15)}, 80);
  DiagnosedFinding Transfer = finding("copies-per-iteration", 12);
  Transfer.Loop = {File, 10, 20};
  EXPECT_EQ(judgeOne(Transfer, Run.Run).Result, Outcome::NotMeasurable);
}

TEST(Copies, LineThatCopiesNothingIsRefuted) {
  MadeRecording Run;
  Run.site("aten::add", {at(12)}, 80);
  EXPECT_EQ(judgeOne(finding("copies-per-iteration", 12), Run.Run).Result,
            Outcome::Refuted);
}

TEST(Copies, ConversionInsideAnotherOperationIsRefuted) {
  MadeRecording Run;
  Run.site("aten::sum", {at(12)}, 80).Copies = {
      {"cpu", "cpu", true, false, 80, 80}};
  EXPECT_EQ(judgeOne(finding("copies-per-iteration", 12), Run.Run).Result,
            Outcome::Refuted);
}

TEST(Copies, TypeThatIsThereAlreadyIsRefuted) {
  MadeRecording Run;
  Run.site("aten::to", {at(12)}, 80);
  DiagnosedFinding Conversion = finding("copies-per-iteration", 12);
  Conversion.Kind = FindingKind::TransferConverts;
  EXPECT_EQ(judgeOne(Conversion, Run.Run).Result, Outcome::Refuted);
}

TEST(Copies, UnknownKindWithoutADeviceIsNotMeasurable) {
  MadeRecording Run;
  Run.site("aten::to", {at(12)}, 80).AskedAgain = 79;
  DiagnosedFinding Either = finding("copies-per-iteration", 12);
  Either.Check = "torch-repeated-transfer";
  Either.Message = "'.to(torch::kFloat32)' converts it in every iteration";
  EXPECT_EQ(judgeOne(Either, Run.Run).Result, Outcome::NotMeasurable);
  Run.Run.CudaDevice = "NVIDIA H200";
  const Verdict V = judgeOne(Either, Run.Run);
  EXPECT_EQ(V.Result, Outcome::Refuted);
  EXPECT_EQ(V.Sentence,
            "nothing is copied, the tensor is already there, 80 iterations")
      << "where the kind changes nothing, nothing is said of it";
}

TEST(PageableCopies, FromMemoryThatIsNotPinned) {
  MadeRecording Run;
  const auto Judged = [&] {
    return judgeOne(finding("pageable-copies-per-iteration", 12), Run.Run);
  };
  Run.site("aten::to", {at(12)}, 80);
  EXPECT_EQ(Judged().Result, Outcome::NotMeasurable) << "all is on the CPU";
  Run.Run.CudaDevice = "NVIDIA H200";
  EXPECT_EQ(Judged().Result, Outcome::Refuted) << "nothing is copied";
  Run.site("aten::to", {at(12)}, 80).Copies = {
      {"cpu", "cuda", false, true, 80, 80 * 4096}};
  EXPECT_EQ(Judged().Result, Outcome::Refuted) << "it is pinned";
  Run.site("aten::to", {at(12)}, 80).Copies = {
      {"cpu", "cuda", false, false, 160, 160 * 4096}};
  EXPECT_EQ(Judged().Result, Outcome::Confirmed);
}

TEST(RedundantCopies, CloneIsConfirmedByWhatItAllocates) {
  MadeRecording Run;
  DiagnosedFinding Clone = finding("copies-per-iteration", 12);
  Clone.Kind = FindingKind::RedundantClone;
  Run.site("aten::to", {at(12)}, 80).Copies = {
      {"cpu", "cpu", true, false, 80, 80 * 64}};
  EXPECT_EQ(judgeOne(Clone, Run.Run).Result, Outcome::Refuted);
  Site &S = Run.site("aten::clone", {at(12)}, 80);
  S.Allocations = 80;
  S.AllocatedBytes = 80 * 64;
  const Verdict V = judgeOne(Clone, Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence, "1 clone of 64 bytes per iteration, 80 iterations");
}

TEST(RedundantCopies, NothingToDo) {
  MadeRecording Run;
  DiagnosedFinding There = finding("copies-per-iteration", 12);
  There.Kind = FindingKind::RedundantTransfer;
  Run.site("aten::to", {at(12)}, 80);
  EXPECT_EQ(judgeOne(There, Run.Run).Result, Outcome::NotMeasurable);
  There.Kind = FindingKind::RedundantConversion;
  EXPECT_EQ(judgeOne(There, Run.Run).Result, Outcome::Confirmed);
  // x.to(kFloat).to(kFloat): the first call copies, and the second does not.
  Run.site("aten::to", {at(12)}, 80).Copies = {
      {"cpu", "cpu", true, false, 80, 80 * 64}};
  EXPECT_EQ(judgeOne(There, Run.Run).Result, Outcome::Confirmed);
  Run.Run.Sites[0].Copies = Run.Run.Sites[1].Copies;
  EXPECT_EQ(judgeOne(There, Run.Run).Result, Outcome::Refuted);
}

TEST(WidenedCopies, BytesToTheDeviceAgainstThoseBefore) {
  MadeRecording Run;
  Run.Run.CudaDevice = "NVIDIA H200";
  const auto Judged = [&] {
    return judgeOne(finding("copied-bytes-per-iteration", 12), Run.Run);
  };
  Run.site("aten::mm", {at(12)}, 10);
  EXPECT_EQ(Judged().Result, Outcome::NotMeasurable) << "nothing is moved";
  Run.site("aten::to", {at(12)}, 10).Copies = {
      {"cpu", "cuda", false, false, 10, 10 * 4096}};
  EXPECT_EQ(Judged().Result, Outcome::NotMeasurable) << "converted elsewhere";
  Run.site("aten::to", {at(12)}, 10).Copies = {
      {"cpu", "cpu", true, false, 10, 10 * 1024}};
  const Verdict V = Judged();
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(*V.Number, 4096);
  Run.site("aten::to", {at(12)}, 10).Copies = {
      {"cpu", "cpu", true, false, 10, 10 * 8192}};
  EXPECT_EQ(Judged().Result, Outcome::Refuted) << "it was made narrower";
}

TEST(WidenedCopies, AnotherTensorOfTheLineIsNotTheConvertedOne) {
  MadeRecording Run;
  Run.Run.CudaDevice = "NVIDIA H200";
  Run.site("aten::to", {at(12)}, 10).Copies = {
      {"cpu", "cpu", true, false, 10, 10 * 1000}};
  Site &Moves = Run.site("aten::to", {at(12)}, 10);
  const auto Judged = [&](uint64_t Count, uint64_t Bytes) {
    Moves.Copies = {{"cpu", "cuda", false, false, Count, Bytes}};
    return judgeOne(finding("copied-bytes-per-iteration", 12), Run.Run).Result;
  };
  EXPECT_EQ(Judged(10, 10 * 4000), Outcome::Confirmed);
  EXPECT_EQ(Judged(10, 10 * 4096), Outcome::NotMeasurable);
  EXPECT_EQ(Judged(20, 10 * 4000), Outcome::NotMeasurable);
  // Labels that are moved in the same line.
  Run.site("aten::to", {at(12)}, 10).Copies = {
      {"cpu", "cuda", false, false, 10, 10 * 64}};
  EXPECT_EQ(Judged(10, 10 * 4000), Outcome::Confirmed);
}

TEST(Copies, OnTheDevice) {
  MadeRecording Run;
  Run.Run.CudaDevice = "NVIDIA H200";
  Run.site("aten::to", {at(12)}, 80).Copies = {
      {"cpu", "cuda", false, false, 80, 80 * 4096}};
  const Verdict V = judgeOne(finding("copies-per-iteration", 12), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence, "1 copy cpu to cuda (pageable) per iteration, 4 KiB "
                        "each time, 80 iterations");
}

TEST(Copies, SeveralAreTheirPlural) {
  MadeRecording Run;
  Site &S = Run.site("aten::to", {at(12)}, 80);
  const auto Sentence = [&](std::vector<CopyCount> Copies) {
    S.Copies = std::move(Copies);
    return judgeOne(finding("copies-per-iteration", 12), Run.Run).Sentence;
  };
  EXPECT_EQ(Sentence({{"cpu", "cuda", false, false, 160, 160 * 4096}}),
            "2 copies cpu to cuda (pageable) per iteration, 8 KiB each time, "
            "80 iterations");
  EXPECT_EQ(Sentence({{"cpu", "cpu", true, false, 160, 160 * 4096},
                      {"cpu", "cpu", false, false, 80, 0}}),
            "2 conversions and 1 copy per iteration, 8 KiB each time, 80 "
            "iterations");
}

TEST(Synchronisations, WithADeviceANumberOnTheHostIsNoWait) {
  MadeRecording Run;
  Run.Run.CudaDevice = "NVIDIA H200";
  Site &S = Run.site("aten::item", {at(12)}, 80);
  S.Synchronisations = 80;
  const auto Judged = [&](const char *Text, uint64_t Others = 0) {
    S.Shapes = {{Text, 80 - Others}};
    S.OtherShapes = Others;
    return judgeOne(finding("synchronisations-per-iteration", 12), Run.Run);
  };
  EXPECT_EQ(Judged("Float[] on cuda:0").Result, Outcome::Confirmed);
  EXPECT_EQ(Judged("Float[] on cpu").Result, Outcome::Refuted);
  EXPECT_EQ(Judged("Float[] on cpu").Sentence,
            "what is read at this line is on the host already, 80 times, 80 "
            "iterations");
  EXPECT_EQ(Judged("Float[] on cpu", 40).Result, Outcome::NotMeasurable);
  // A copy from the device is a wait, whatever else is given.
  S.Copies = {{"cuda", "cpu", false, false, 80, 320}};
  EXPECT_EQ(Judged("Float[] on cpu").Result, Outcome::Confirmed);
  // Without a device nothing waits.
  S.Copies.clear();
  Run.Run.CudaDevice.clear();
  EXPECT_EQ(Judged("Float[] on cpu").Result, Outcome::NotMeasurable);
}

TEST(Synchronisations, ANumberIsRead) {
  MadeRecording Run;
  Run.site("aten::item", {at(12)}, 80).Synchronisations = 80;
  Run.site("aten::mul", {at(12)}, 80);
  const DiagnosedFinding Finding =
      finding("synchronisations-per-iteration", 12);
  Verdict V = judgeOne(Finding, Run.Run);
  EXPECT_EQ(V.Result, Outcome::NotMeasurable);
  EXPECT_EQ(V.Sentence,
            "nothing waits without a CUDA device; of a tensor that is on one "
            "the host would wait, 1 time per iteration, 80 iterations");
  Run.Run.CudaDevice = "NVIDIA H200";
  V = judgeOne(Finding, Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence, "the host waits, 1 time per iteration, 80 iterations");
}

TEST(Synchronisations, NoWait) {
  MadeRecording Run;
  Run.site("aten::add", {at(12)}, 80);
  EXPECT_EQ(
      judgeOne(finding("synchronisations-per-iteration", 12), Run.Run).Result,
      Outcome::Refuted);
}

TEST(Synchronisations, ACopyNeedsADevice) {
  MadeRecording Run;
  Run.site("aten::to", {at(12)}, 80);
  DiagnosedFinding Finding = finding("synchronisations-per-iteration", 12);
  Finding.Check = "torch-sync-in-loop";
  Finding.Kind = FindingKind::SyncCopiesToHost;
  const Verdict V = judgeOne(Finding, Run.Run);
  EXPECT_EQ(V.Result, Outcome::NotMeasurable);
  EXPECT_EQ(V.Rule, "synchronisations-per-iteration: needs a device");
}

TEST(Synchronisations, AFewAreNotMeasurable) {
  MadeRecording Run;
  Run.site("aten::item", {at(12)}, 2).Synchronisations = 2;
  EXPECT_EQ(
      judgeOne(finding("synchronisations-per-iteration", 12), Run.Run).Result,
      Outcome::NotMeasurable);
}

TEST(ElementOperations, NumbersAreReadOneByOne) {
  MadeRecording Run;
  Run.site("aten::select", {at(12)}, 128).Shapes = {{"Float[128]", 128}};
  Site &Item = Run.site("aten::item", {at(12)}, 128);
  Item.Shapes = {{"Float[]", 128}};
  Item.OfOneElement = 128;
  const Verdict V = judgeOne(finding("element-operations", 12), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence,
            "128 elements read or written one at a time, by 256 operations");
  // losses[i].item(): each is a tensor of its own, and a list holds them.
  Item.OfOneElement = 0;
  DiagnosedFinding Own = finding("element-operations", 12);
  EXPECT_EQ(judgeOne(Own, Run.Run).Result, Outcome::Refuted);
  // Numbers that are computed of rows are such tensors, too.
  Own.Kind = FindingKind::ElementsReduced;
  EXPECT_EQ(judgeOne(Own, Run.Run).Result, Outcome::Confirmed);
}

TEST(ElementOperations, NumbersAreWrittenOneByOne) {
  MadeRecording Run;
  Run.site("aten::select", {at(12)}, 200).Shapes = {{"Float[10,10]", 100},
                                                    {"Float[10]", 100}};
  Site &Add = Run.site("aten::add_", {at(12)}, 100);
  Add.Shapes = {{"Float[]", 100}};
  Add.OfOneElement = 100;
  EXPECT_EQ(judgeOne(finding("element-operations", 12), Run.Run).Result,
            Outcome::Confirmed);
  MadeRecording Put;
  Put.site("aten::index_put_", {at(12)}, 100).Shapes = {
      {"Float[10,10], Long[], Long[], Float[]", 100}};
  EXPECT_EQ(judgeOne(finding("element-operations", 12), Put.Run).Result,
            Outcome::Confirmed);
}

TEST(ElementOperations, RowsAreRefuted) {
  MadeRecording Run;
  Run.site("aten::select", {at(12)}, 100).Shapes = {{"Float[100,3]", 100}};
  Run.site("aten::copy_", {at(12)}, 100).Shapes = {{"Float[3], Float[3]", 100}};
  const Verdict V = judgeOne(finding("element-operations", 12), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Refuted);
  EXPECT_EQ(V.Sentence, "the operations of this line work on 100 tensors of "
                        "several elements");
}

TEST(ElementOperations, AnotherOperationIsRefuted) {
  MadeRecording Run;
  Run.site("aten::mm", {at(12)}, 100).Shapes = {{"Float[3,3]", 100}};
  EXPECT_EQ(judgeOne(finding("element-operations", 12), Run.Run).Result,
            Outcome::Refuted);
}

TEST(ElementOperations, AFewAreNotMeasurable) {
  MadeRecording Run;
  Site &Item = Run.site("aten::item", {at(12)}, 10);
  Item.Shapes = {{"Float[]", 10}};
  Item.OfOneElement = 10;
  EXPECT_EQ(judgeOne(finding("element-operations", 12), Run.Run).Result,
            Outcome::NotMeasurable);
}

TEST(ElementOperations, ALineThatDidNotRunIsNotReached) {
  MadeRecording Run;
  Run.site("aten::mm", {at(11)}, 100);
  DiagnosedFinding Planted = finding("element-operations", 12);
  Planted.Loop = {File, 10, 20};
  EXPECT_EQ(judgeOne(Planted, Run.Run).Result, Outcome::NotReached);
}

TEST(LayoutCopies, OneCopyIsEnough) {
  MadeRecording Run;
  Run.site("aten::repeat", {at(12)}, 1).AllocatedBytes = 4096;
  Run.site("aten::add", {at(12)}, 1).AllocatedBytes = 4096;
  const Verdict V = judgeOne(finding("layout-copies", 12), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence, "copies of 4 KiB each time, 1 iteration");
}

TEST(LayoutCopies, NothingToCopyIsRefuted) {
  MadeRecording Run;
  Run.site("aten::contiguous", {at(12)}, 10);
  Run.site("aten::add", {at(12)}, 10).AllocatedBytes = 4096;
  EXPECT_EQ(judgeOne(finding("layout-copies", 12), Run.Run).Result,
            Outcome::Refuted);
}

TEST(LayoutCopies, WhatTheLineTakesBesideTheCopyIsNone) {
  MadeRecording Run;
  Run.site("aten::contiguous", {at(12)}, 10);
  Run.site("aten::empty", {at(12)}, 10).AllocatedBytes = 4096;
  EXPECT_EQ(judgeOne(finding("layout-copies", 12), Run.Run).Result,
            Outcome::Refuted);
}

TEST(LayoutCopies, LayoutsThatMeetAreNotMeasurable) {
  MadeRecording Run;
  Run.site("aten::add", {at(12)}, 10).AllocatedBytes = 4096;
  DiagnosedFinding Mixed = finding("layout-copies", 12);
  Mixed.Kind = FindingKind::LayoutsMixed;
  EXPECT_EQ(judgeOne(Mixed, Run.Run).Result, Outcome::NotMeasurable);
}

/// A cat with the sizes of its first hits; the others have sizes of their own.
void join(MadeRecording &Run, std::vector<int> Sizes, uint64_t Others) {
  Site &S = Run.site("aten::cat", {at(12)}, Sizes.size() + Others);
  for (const int Size : Sizes)
    S.Shapes.push_back(
        {"Float[" + std::to_string(Size) + ",3], Float[1,3]", 1});
  S.OtherShapes = Others;
  S.AllocatedBytes = S.Hits * 1024;
}

TEST(GrowingCopies, LargerEachTime) {
  MadeRecording Run;
  join(Run, {1, 2, 3, 4}, 96);
  const Verdict V = judgeOne(finding("growing-copies", 12), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence, "each time a larger tensor is copied, 1 KiB on "
                        "average, 100 iterations");
}

TEST(GrowingCopies, ResultsThatAreUsedAreRefuted) {
  // A cache that each step reads: without it the step cannot be.
  MadeRecording Run;
  join(Run, {1, 2, 3, 4}, 96);
  Run.Run.Sites[0].ResultsUsed = 99;
  EXPECT_EQ(judgeOne(finding("growing-copies", 12), Run.Run).Sentence,
            "what the line has joined is used before it is joined again, 99 of "
            "100 times");
}

TEST(GrowingCopies, AListThatGrowsAtItsEnd) {
  MadeRecording Run;
  Site &S = Run.site("aten::stack", {at(12)}, 100);
  S.Shapes = {{"Float[3]", 1},
              {"Float[3], Float[3]", 1},
              {"Float[3], Float[3], Float[3]", 1},
              {"Float[3], Float[3], Float[3], Float[3]", 1}};
  S.OtherShapes = 96;
  EXPECT_EQ(judgeOne(finding("growing-copies", 12), Run.Run).Result,
            Outcome::Confirmed);
}

TEST(GrowingCopies, BatchesThatComeSortedByLengthAreOthers) {
  MadeRecording Run;
  Site &S = Run.site("aten::cat", {at(12)}, 100);
  for (const char *Sizes :
       {"Float[10,3], Float[10,3]", "Float[12,3], Float[12,3]",
        "Float[15,3], Float[15,3]", "Float[19,3], Float[19,3]"})
    S.Shapes.push_back({Sizes, 1});
  S.OtherShapes = 96;
  const Verdict V = judgeOne(finding("growing-copies", 12), Run.Run);
  EXPECT_EQ(V.Result, Outcome::NotMeasurable) << V.Sentence;
  EXPECT_EQ(V.Sentence, "what is joined grows, but by its sizes it is not what "
                        "was joined before with more, 100 iterations");
}

TEST(GrowingCopies, OneSizeIsRefuted) {
  MadeRecording Run;
  Run.site("aten::cat", {at(12)}, 100).Shapes = {
      {"Float[8,3], Float[1,3]", 100}};
  EXPECT_EQ(judgeOne(finding("growing-copies", 12), Run.Run).Result,
            Outcome::Refuted);
}

TEST(GrowingCopies, AnotherOperationIsRefuted) {
  MadeRecording Run;
  Run.site("aten::mm", {at(12)}, 100);
  EXPECT_EQ(judgeOne(finding("growing-copies", 12), Run.Run).Result,
            Outcome::Refuted);
}

TEST(GrowingCopies, NotMeasurable) {
  MadeRecording Few;
  join(Few, {1, 2, 3, 4}, 6);
  EXPECT_EQ(judgeOne(finding("growing-copies", 12), Few.Run).Result,
            Outcome::NotMeasurable);
  MadeRecording Mixed;
  join(Mixed, {3, 1, 4, 1}, 96);
  EXPECT_EQ(judgeOne(finding("growing-copies", 12), Mixed.Run).Result,
            Outcome::NotMeasurable);
}

/// An operation that takes a kilobyte at each hit, of which so many stay.
Site &take(MadeRecording &Run, unsigned Line, uint64_t Hits, int64_t Stay) {
  Site &S = Run.site("aten::empty", {at(Line)}, Hits);
  S.AllocatedBytes = Hits * 1024;
  S.OwnAtSecond = Stay ? 1024 : 0;
  S.MostOwnAtHit = Stay * 1024;
  return S;
}

DiagnosedFinding madeAt(unsigned Line) {
  DiagnosedFinding Result = finding("live-bytes-per-iteration", 12);
  Result.IterationSite = {File, Line, Line};
  return Result;
}

TEST(LiveBytesRule, AllStays) {
  MadeRecording Run;
  take(Run, 10, 100, 99);
  const Verdict V = judgeOne(madeAt(10), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence,
            "99 KiB are alive at once, of what this line has taken, "
            "100 iterations");
}

TEST(LiveBytesRule, WhatAnOperationWorksInIsNotCounted) {
  // A megabyte at each hit, of which it leaves one kilobyte.
  MadeRecording Run;
  take(Run, 10, 100, 99).AllocatedBytes = 100 << 20;
  EXPECT_EQ(judgeOne(madeAt(10), Run.Run).Result, Outcome::Confirmed);
}

TEST(LiveBytesRule, TheRestOfTheProcessIsNotCounted) {
  MadeRecording Run;
  sample(take(Run, 10, 100, 1), [](uint64_t Hit, Sample &Each) {
    Each.CpuBytes = int64_t(Hit) * 1024;
  });
  EXPECT_EQ(judgeOne(madeAt(10), Run.Run).Result, Outcome::Refuted);
}

TEST(LiveBytesRule, OperationThatANoteNames) {
  MadeRecording Run;
  Run.site("aten::select", {at(12)}, 100);
  take(Run, 20, 100, 99);
  DiagnosedFinding View = finding("live-bytes-per-iteration", 12);
  View.Notes.push_back(
      {{File, 20, 20}, "made here", torchtidy::NoteRole::Made});
  EXPECT_EQ(judgeOne(View, Run.Run).Result, Outcome::Confirmed);
}

TEST(LiveBytesRule, AliveAtTheEnd) {
  // In a run whose other lines give back as much.
  MadeRecording Run;
  take(Run, 10, 15, 0).LiveBytes = 15 * 1024;
  const Verdict V = judgeOne(madeAt(10), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence, "15 KiB are alive at the end, of what this line has "
                        "taken, 15 iterations");
}

TEST(LiveBytesRule, LittleStays) {
  MadeRecording Run;
  take(Run, 10, 100, 2);
  EXPECT_EQ(judgeOne(madeAt(10), Run.Run).Result, Outcome::Refuted);
  MadeRecording Between;
  take(Between, 10, 100, 7);
  EXPECT_EQ(judgeOne(madeAt(10), Between.Run).Result, Outcome::NotMeasurable);
  MadeRecording Window;
  take(Window, 10, 1000, 12);
  EXPECT_EQ(judgeOne(madeAt(10), Window.Run).Result, Outcome::Refuted);
}

TEST(LiveBytesRule, NotMeasurable) {
  MadeRecording Few;
  take(Few, 10, 15, 9);
  EXPECT_EQ(judgeOne(madeAt(10), Few.Run).Result, Outcome::NotMeasurable);
  MadeRecording Unknown;
  Unknown.site("aten::select", {at(12)}, 100);
  EXPECT_EQ(judgeOne(madeAt(10), Unknown.Run).Sentence,
            "no operation was seen that takes the memory");
  MadeRecording File;
  take(File, 12, 100, 99);
  DiagnosedFinding Saved = madeAt(10);
  Saved.Kind = torchtidy::FindingKind::ViewSaved;
  EXPECT_EQ(judgeOne(Saved, File.Run).Result, Outcome::NotMeasurable);
}

} // namespace
