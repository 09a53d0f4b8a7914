// The rules of evidence that is no count: exceptions, results. Of reports of
// the sanitizer: SanitizerRuleTest.cpp.
#include "Recordings.h"
#include "rules/Rule.h"
#include <gtest/gtest.h>

using namespace torchtidy::confirm;
using torchtidy::FindingKind;

namespace {

bool contains(const std::string &Text, const std::string &Part) {
  return Text.find(Part) != std::string::npos;
}

DiagnosedFinding withNote(DiagnosedFinding Finding, unsigned Line) {
  Finding.Notes.push_back({{File, Line, Line}, "here"});
  return Finding;
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

TEST(ExceptionRule, OfAMistakeThatThrowsNothingAnExceptionIsNoSign) {
  for (const FindingKind Kind :
       {FindingKind::NonLeafIgnored, FindingKind::NonLeafRebound,
        FindingKind::StaleSilent}) {
    MadeRecording Run;
    Site &S = Run.site("aten::mm", {at(12)}, 3);
    S.Exceptions = 1;
    S.Thrown = {{"c10::Error", "shapes cannot be multiplied", 1}};
    const Verdict V = judgeOne(ofKind(Kind, "exception"), Run.Run);
    EXPECT_EQ(V.Result, Outcome::NotMeasurable) << V.Sentence;
    EXPECT_TRUE(
        contains(V.Sentence, "something else: \"shapes cannot be multiplied\""))
        << V.Sentence;
  }
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
