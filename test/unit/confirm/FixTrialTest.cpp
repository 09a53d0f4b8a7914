// What 'torch-confirm fix' says of a finding by the runs without its fix and
// with it.
#include "Recordings.h"
#include "fix/Trial.h"
#include <gtest/gtest.h>

using namespace torchtidy::confirm;
using namespace torchtidy::confirm::fix;

namespace {

/// A loop in lines 10 to 20, as the operation of its line 15 has it.
MadeRecording looping(const std::string &Operation, unsigned Line,
                      uint64_t Hits) {
  MadeRecording Run;
  Site &S = Run.site(Operation, {at(Line)}, Hits);
  S.Allocations = Hits;
  S.AllocatedBytes = Hits << 10;
  Run.site("aten::relu", {at(16)}, 80);
  return Run;
}

DiagnosedFinding allocation(unsigned Line) {
  DiagnosedFinding Result = finding("allocations-per-iteration", Line);
  Result.Loop = {File, 10, 20};
  return Result;
}

Comparison same() {
  Comparison Result;
  Result.EndBefore = Result.EndAfter = "exit code 0";
  return Result;
}

Comparison otherOutput() {
  Comparison Result = same();
  Result.Output.Count = 1;
  Result.Output.First = {{3, "a", "b"}};
  return Result;
}

FixVerdict decided(const Recording &Old, const DiagnosedFinding &Before,
                   const Recording &New, const DiagnosedFinding &After,
                   const Comparison &Beside = same(), size_t Others = 0) {
  const ProgramRun First{Old, ""}, Second{New, ""};
  return decide({Before, First}, {After, Second}, Beside, Others);
}

TEST(FixVerdict, OfAStatementThatLeftItsLoop) {
  const auto Old = looping("aten::empty", 15, 80);
  // In a loop around the loop it runs ten times, and allocates each time.
  const auto New = looping("aten::empty", 9, 10);
  const FixVerdict V = decided(Old.Run, allocation(15), New.Run, allocation(9));
  EXPECT_EQ(V.Result, FixOutcome::Confirmed);
  EXPECT_EQ(V.After->Sentence,
            "it no longer runs in the loop: 10 times in place of 80");
  // In the loop, ten times are no cure.
  const auto Fewer = looping("aten::empty", 15, 10);
  EXPECT_EQ(decided(Old.Run, allocation(15), Fewer.Run, allocation(15)).Result,
            FixOutcome::EffectRemains);
  EXPECT_EQ(decided(Old.Run, allocation(15), looping("aten::empty", 15, 2).Run,
                    allocation(15))
                .Result,
            FixOutcome::NotMeasurable);
}

TEST(FixVerdict, OfAStatementThatIsGone) {
  const auto Old = looping("aten::empty", 15, 80);
  DiagnosedFinding Gone = allocation(15);
  Gone.Statement = {File, 0, 0};
  const auto V =
      decided(Old.Run, allocation(15), looping("x", 16, 1).Run, Gone);
  EXPECT_EQ(V.Result, FixOutcome::Confirmed);
  EXPECT_EQ(V.After->Sentence, "the fix takes the statement out");
}

TEST(FixVerdict, WhereThereWasNoEffect) {
  const auto Old = looping("aten::relu", 15, 80);
  EXPECT_EQ(decided(Old.Run, allocation(15), Old.Run, allocation(15)).Result,
            FixOutcome::Refuted);
  DiagnosedFinding Elsewhere = finding("allocations-per-iteration", 50);
  EXPECT_EQ(decided(Old.Run, Elsewhere, Old.Run, Elsewhere).Result,
            FixOutcome::NotReached);
}

TEST(FixVerdict, WhereSomethingElseIsPrinted) {
  const auto Old = looping("aten::empty", 15, 80),
             New = looping("aten::relu", 15, 80);
  FixVerdict V =
      decided(Old.Run, allocation(15), New.Run, allocation(15), otherOutput());
  EXPECT_EQ(V.Result, FixOutcome::OutputChanged);
  EXPECT_EQ(V.Sentence, "the fix changed what the program prints: line 3");
  V = decided(Old.Run, allocation(15), New.Run, allocation(15), otherOutput(),
              2);
  EXPECT_NE(V.Sentence.find("2 other fixes were applied too"),
            std::string::npos);
  Comparison Ends = same();
  Ends.EndsSame = false;
  Ends.EndAfter = "signal 6";
  V = decided(Old.Run, allocation(15), New.Run, allocation(15), Ends);
  EXPECT_EQ(V.Result, FixOutcome::OutputChanged);
  EXPECT_EQ(V.Sentence,
            "the program ends with signal 6 in place of exit code 0");
}

TEST(FixVerdict, WhereNoLineCanBeCompared) {
  const auto Old = looping("aten::empty", 15, 80),
             New = looping("aten::relu", 15, 80);
  Comparison Beside = same();
  Beside.Output.LinesBefore = Beside.Output.LinesAfter = 2;
  Beside.Unsteady = 1;
  EXPECT_EQ(
      decided(Old.Run, allocation(15), New.Run, allocation(15), Beside).Result,
      FixOutcome::Confirmed);
  Beside.Unsteady = 2;
  EXPECT_EQ(
      decided(Old.Run, allocation(15), New.Run, allocation(15), Beside).Result,
      FixOutcome::NotMeasurable);
}

TEST(FixVerdict, WrongResultsMayChange) {
  MadeRecording Old, New;
  Old.site("step:SGD", {at(14)}, 50).UnclearedSteps = 49;
  New.site("step:SGD", {at(14)}, 50);
  const DiagnosedFinding Found = finding("gradient-accumulation", 14);
  EXPECT_EQ(decided(Old.Run, Found, New.Run, Found, otherOutput()).Result,
            FixOutcome::Confirmed);
}

} // namespace
