// Tensors over memory of the program's own.
#include "Recordings.h"
#include <gtest/gtest.h>

using namespace torchtidy::confirm;
using torchtidy::FindingKind;

namespace {

DiagnosedFinding late() {
  return ofKind(FindingKind::BlobOwnerLeavesScope, "sanitizer");
}

TEST(Lifetimes, MemoryThatIsFreedBeforeTheTensorIsUsed) {
  MadeRecording Run;
  Site &Wraps = Run.site("from_blob", {at(12)}, 20);
  Wraps.WrapsGone = 20;
  // Nothing has used them since.
  EXPECT_EQ(judgeOne(late(), Run.Run).Result, Outcome::Refuted);
  Wraps.UsesOfGone = 40;
  Wraps.GoneAt = {at(13)};
  Wraps.UsedAt = {{"/work/app/peak.h", 7, "peak"}};
  Wraps.UsedBy = "data_ptr";
  const Verdict V = judgeOne(late(), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence,
            "the memory of 20 of 20 tensors goes before they do, freed at line "
            "13; used since 40 times, first by data_ptr at peak.h:7");
  EXPECT_EQ(V.Cost, CostKind::WrongResult);
}

TEST(Lifetimes, AFrameThatIsLeft) {
  MadeRecording Run;
  Site &Wraps = Run.site("from_blob", {at(12)}, 1);
  Wraps.WrapsOnStack = 1;
  // An inlined function leaves no frame, and its variables end all the same.
  EXPECT_EQ(judgeOne(late(), Run.Run).Result, Outcome::NotMeasurable);
  Wraps.WrapsGone = Wraps.UsesOfGone = 1;
  Wraps.UsedAt = {at(30)};
  Wraps.UsedBy = "aten::sum";
  const Verdict V = judgeOne(late(), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence, "the memory of 1 of 1 tensor goes before they do, with "
                        "the function that had it on its stack; used since 1 "
                        "time, first by aten::sum at line 30");
}

TEST(Lifetimes, MemoryThatIsThereIsToldFromMemoryThatNobodySees) {
  MadeRecording Run;
  Site &Wraps = Run.site("from_blob", {at(12)}, 20);
  EXPECT_EQ(judgeOne(late(), Run.Run).Result, Outcome::NotMeasurable);
  Wraps.WrapsOutlived = 20;
  EXPECT_EQ(judgeOne(late(), Run.Run).Result, Outcome::Refuted);
  Run.Run.Capabilities.erase("wrapped-memory");
  EXPECT_EQ(judgeOne(late(), Run.Run).Result, Outcome::NotMeasurable);
}

TEST(Lifetimes, AReportOfTheSanitizerConfirmsAndItsSilenceSaysNothing) {
  MadeRecording Run;
  Site &Wraps = Run.site("from_blob", {at(12)}, 1);
  Wraps.WrapsOutlived = 1;
  Run.Run.Capabilities["sanitizer"].IsAvailable = true;
  EXPECT_EQ(judgeOne(late(), Run.Run).Result, Outcome::NotMeasurable);
  // LibTorch's own reads are the probe's to see.
  Wraps.WrapsGone = Wraps.UsesOfGone = 1;
  EXPECT_EQ(judgeOne(late(), Run.Run).Result, Outcome::Confirmed);
  Wraps.WrapsGone = Wraps.UsesOfGone = 0;
  DiagnosedFinding Declared = late();
  Declared.Notes = {{{File, 11, 11}, "", torchtidy::NoteRole::Declared}};
  Run.Run.SanitizerReports = {
      {"heap-use-after-free", "", {at(30)}, {at(13)}, {at(11)}}};
  EXPECT_EQ(judgeOne(Declared, Run.Run).Result, Outcome::Confirmed);
}

TEST(Lifetimes, ABlockOfAsManySmallerElements) {
  const auto Wide = ofKind(FindingKind::BlobReadsBeyond, "value");
  const auto Other = ofKind(FindingKind::BlobWrongValues, "value");
  MadeRecording Run;
  Site &Wraps = Run.site("from_blob", {at(12)}, 1);
  EXPECT_EQ(judgeOne(Wide, Run.Run).Result, Outcome::NotMeasurable);
  Wraps.WrapsBeyond = 1;
  EXPECT_EQ(judgeOne(Wide, Run.Run).Result, Outcome::Confirmed);
  // Elements of the same size leave no sign.
  EXPECT_EQ(judgeOne(Other, Run.Run).Result, Outcome::NotMeasurable);
}

} // namespace
