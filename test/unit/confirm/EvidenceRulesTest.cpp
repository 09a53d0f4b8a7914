// The rules of evidence that is no count: reports of the sanitizer, exceptions,
// results.
#include "Recordings.h"
#include "rules/Rule.h"
#include <gtest/gtest.h>

using namespace torchtidy::confirm;
using torchtidy::FindingKind;

namespace {

bool contains(const std::string &Text, const std::string &Part) {
  return Text.find(Part) != std::string::npos;
}

SanitizerReport report(unsigned Use, unsigned Freed) {
  SanitizerReport Result;
  Result.Kind = "heap-use-after-free";
  Result.Access = "read of 4 bytes";
  Result.Use = {{"/work/app/helper.h", 3, "sum"}, at(Use)};
  Result.Freed = {at(Freed)};
  return Result;
}

DiagnosedFinding withNote(DiagnosedFinding Finding, unsigned Line) {
  Finding.Notes.push_back({{File, Line, Line}, "here"});
  return Finding;
}

TEST(SanitizerRule, ReportAtTheLine) {
  MadeRecording Run;
  Run.Run.Capabilities["sanitizer"].IsAvailable = true;
  Run.Run.SanitizerReports = {report(19, 12), report(20, 12), report(30, 31)};
  const Verdict V = judgeOne(finding("sanitizer", 12), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence,
            "AddressSanitizer: heap-use-after-free, read of 4 bytes at line "
            "19, memory freed at line 12, 2 reports");
  EXPECT_EQ(V.Number, 2);
}

TEST(SanitizerRule, ReportAtAPlaceThatANoteNames) {
  MadeRecording Run;
  Run.Run.Capabilities["sanitizer"].IsAvailable = true;
  Run.Run.SanitizerReports = {report(19, 14)};
  EXPECT_EQ(judgeOne(finding("sanitizer", 12), Run.Run).Result,
            Outcome::NotMeasurable);
  EXPECT_EQ(judgeOne(withNote(finding("sanitizer", 12), 14), Run.Run).Result,
            Outcome::Confirmed);
}

TEST(SanitizerRule, RunWithoutTheProbe) {
  // Neither stacks of operations nor anything else was recorded.
  Recording Run;
  Run.Capabilities["operations"].Reason = "built with AddressSanitizer";
  Run.Capabilities["sanitizer"].IsAvailable = true;
  Run.SanitizerReports = {report(19, 12)};
  EXPECT_EQ(judgeOne(finding("sanitizer", 12), Run).Result, Outcome::Confirmed);
  const Verdict Other = judgeOne(finding("sanitizer", 99), Run);
  EXPECT_EQ(Other.Result, Outcome::NotMeasurable);
  EXPECT_TRUE(contains(Other.Sentence, "nothing about this line (and 1 report "
                                       "elsewhere)"))
      << Other.Sentence;
  EXPECT_EQ(judgeOne(finding("exception", 12), Run).Sentence,
            "'call-stacks' was not measured");
}

TEST(SanitizerRule, WithoutAReportNothingIsKnown) {
  MadeRecording Run;
  Run.site("aten::sum", {at(12)}, 40);
  const Verdict V = judgeOne(finding("sanitizer", 12), Run.Run);
  EXPECT_EQ(V.Result, Outcome::NotMeasurable);
  EXPECT_TRUE(contains(V.Sentence, "the line ran, 40 iterations"))
      << V.Sentence;
  EXPECT_TRUE(contains(V.Sentence, "--sanitizer-report")) << V.Sentence;
  // from_blob() is no operation: the line may have run.
  EXPECT_EQ(judgeOne(finding("sanitizer", 50), Run.Run).Result,
            Outcome::NotMeasurable);
  DiagnosedFinding Other = finding("sanitizer", 12);
  Other.Statement.File = "/work/app/other.cpp";
  EXPECT_EQ(judgeOne(Other, Run.Run).Result, Outcome::NotReached);
}

TEST(ExceptionRule, ThrownAtTheLine) {
  MadeRecording Run;
  Site &S = Run.site("aten::mul_", {at(12)}, 3);
  S.Exceptions = 1;
  S.Thrown = {{"c10::Error", "a leaf Variable that requires grad", 1}};
  const Verdict V = judgeOne(finding("exception", 12), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence, "aten::mul_ threw 1 exception at line 12 in 3 calls: "
                        "c10::Error, \"a leaf Variable that requires grad\"");
}

TEST(ExceptionRule, ThrownOutsideOfOperations) {
  MadeRecording Run;
  Run.site("throw", {at(12)}, 1).Exceptions = 1;
  const Verdict V = judgeOne(finding("exception", 12), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence, "LibTorch threw 1 exception at line 12");
}

TEST(ExceptionRule, ThrownWhereANoteSays) {
  MadeRecording Run;
  Run.site("aten::mul", {at(12)}, 1);
  Run.site("throw", {at(20)}, 1).Exceptions = 1;
  EXPECT_EQ(judgeOne(withNote(finding("exception", 12), 20), Run.Run).Result,
            Outcome::Confirmed);
  EXPECT_EQ(judgeOne(withNote(finding("exception", 13), 20), Run.Run).Result,
            Outcome::Confirmed)
      << "the flagged line runs no operation";
}

TEST(ExceptionRule, NothingThrown) {
  MadeRecording Run;
  Run.site("aten::mul", {at(12)}, 40);
  const Verdict V = judgeOne(finding("exception", 12), Run.Run);
  EXPECT_EQ(V.Result, Outcome::Refuted);
  EXPECT_EQ(V.Sentence, "the line ran and nothing was thrown, 40 iterations");
  EXPECT_EQ(judgeOne(withNote(finding("exception", 12), 20), Run.Run).Result,
            Outcome::NotMeasurable)
      << "the place that would throw may not have been reached";
  EXPECT_EQ(judgeOne(finding("exception", 50), Run.Run).Result,
            Outcome::NotMeasurable);
}

TEST(ExceptionRule, TwoDevicesNeedASecondOne) {
  for (FindingKind Kind :
       {FindingKind::MismatchInput, FindingKind::MismatchOperands,
        FindingKind::MismatchModule}) {
    MadeRecording Run;
    Run.site("aten::add", {at(12)}, 5);
    DiagnosedFinding Found = finding("exception", 12);
    Found.Check = "torch-device-mismatch";
    Found.Kind = Kind;
    EXPECT_EQ(judgeOne(Found, Run.Run).Result, Outcome::NotMeasurable);
    Run.Run.CudaDevice = "NVIDIA H200";
    EXPECT_EQ(judgeOne(Found, Run.Run).Result, Outcome::Refuted);
  }
}

TEST(ExceptionRule, KindsThatAreSilentAreNotRefuted) {
  MadeRecording Run;
  Run.site("aten::mul", {at(12)}, 40);
  DiagnosedFinding Found = finding("exception", 12);
  Found.Kind = FindingKind::NonLeafThrows;
  EXPECT_EQ(judgeOne(Found, Run.Run).Result, Outcome::Refuted);
  for (FindingKind Silent :
       {FindingKind::NonLeafIgnored, FindingKind::NonLeafRebound,
        FindingKind::StaleSilent, FindingKind::StaleUnknown}) {
    Found.Kind = Silent;
    EXPECT_EQ(judgeOne(Found, Run.Run).Result, Outcome::NotMeasurable);
  }
}

TEST(ByComparisonRules, ARunSaysWhetherTheLineRan) {
  MadeRecording Run;
  Run.site("aten::sub", {at(12)}, 40);
  for (const char *Evidence : {"value", "parameters"}) {
    const Verdict V = judgeOne(finding(Evidence, 12), Run.Run);
    EXPECT_EQ(V.Result, Outcome::NotMeasurable);
    EXPECT_TRUE(contains(V.Sentence, "the line ran, 40 iterations"));
    EXPECT_TRUE(contains(V.Sentence, "scenarios --check torch-some-check"));
    EXPECT_TRUE(contains(judgeOne(finding(Evidence, 50), Run.Run).Sentence,
                         "no operation of this line was seen"));
  }
}

} // namespace
