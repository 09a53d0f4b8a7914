// Hits of lines: what verdicts make of them, and the tables that say where the
// code of lines is.
#include "Recordings.h"
#include "recording/Json.h"
#include "run/LineTable.h"
#include "run/LineWatch.h"
#include <gtest/gtest.h>
#include <iomanip>
#include <link.h>
#include <sstream>

using namespace torchtidy::confirm;
using torchtidy::FindingKind;

namespace {

class WithLines : public MadeRecording {
public:
  WithLines() { Run.Capabilities["line-hits"].IsAvailable = true; }

  LineHits &line(unsigned Line, LineState State, uint64_t Places = 1) {
    LineHits &Each = Run.Lines.emplace_back();
    Each.File = File;
    Each.Line = Line;
    Each.State = State;
    Each.Places = Places;
    return Each;
  }
};

/// A store in a loop whose graphs stay, and that the finding says to be built
/// at line 12.
DiagnosedFinding store(unsigned Line) {
  DiagnosedFinding Result = finding("graph-nodes-per-iteration", Line);
  Result.Check = "torch-retained-graph";
  Result.Kind = FindingKind::GraphGrows;
  Result.IterationSite = {File, 12, 12};
  Result.Loop = {File, 10, 20};
  return Result;
}

TEST(LineHits, ALineThatDidNotRunIsNotReachedWhateverItsLoopDid) {
  WithLines Run;
  Run.kept("aten::mm", {at(12)}, 100, 4);
  EXPECT_EQ(judgeOne(store(15), Run.Run).Result, Outcome::Confirmed);
  Run.line(15, LineState::DidNotRun, 3);
  const Verdict V = judgeOne(store(15), Run.Run);
  EXPECT_EQ(V.Result, Outcome::NotReached);
  EXPECT_EQ(V.Sentence, "the line did not run: none of the 3 places in the "
                        "code where it begins was reached");
  EXPECT_EQ(V.Rule, "graph-nodes-per-iteration: hits of the line");
}

TEST(LineHits, ALineThatRanIsJudgedByItsBuilder) {
  WithLines Run;
  Run.kept("aten::mm", {at(12)}, 100, 4);
  Run.line(15, LineState::Ran);
  EXPECT_EQ(judgeOne(store(15), Run.Run).Result, Outcome::Confirmed);
}

TEST(LineHits, ALineThatRanIsNeverNotReached) {
  for (const char *Evidence :
       {"allocations-per-iteration", "gradient-accumulation", "peak-bytes",
        "copies-per-iteration", "growing-copies", "layout-copies",
        "element-operations", "synchronisations-per-iteration",
        "needless-backward", "live-bytes-per-iteration", "exception", "value",
        "graph-nodes-per-iteration", "copied-bytes-per-iteration"}) {
    for (bool IsInLoop : {false, true}) {
      WithLines Run;
      Run.site("aten::mm", {at(12)}, 100);
      DiagnosedFinding Planted = finding(Evidence, 15);
      if (IsInLoop)
        Planted.Loop = {File, 10, 20};
      Run.line(15, LineState::Ran);
      const Verdict V = judgeOne(Planted, Run.Run);
      EXPECT_NE(V.Result, Outcome::NotReached) << Evidence;
      EXPECT_NE(V.Result, Outcome::Confirmed) << Evidence;
      // Without it the line would not have been reached.
      Run.Run.Lines.clear();
      Run.Run.Capabilities.erase("line-hits");
      if (judgeOne(Planted, Run.Run).Result == Outcome::NotReached) {
        EXPECT_EQ(V.Result, Outcome::NotMeasurable) << Evidence;
        EXPECT_EQ(V.Sentence.rfind("the line ran", 0), 0u)
            << Evidence << ": " << V.Sentence;
      }
    }
  }
}

TEST(LineHits, OperationsSayMoreThanHits) {
  // Addresses may be missed in optimised code; what was seen was seen.
  WithLines Run;
  Run.site("aten::zeros", {at(15)}, 100).Allocations = 100;
  Run.line(15, LineState::DidNotRun);
  EXPECT_NE(judgeOne(finding("allocations-per-iteration", 15), Run.Run).Result,
            Outcome::NotReached);
}

TEST(LineHits, OneLineOfAStatementIsEnough) {
  WithLines Run;
  Run.site("aten::mm", {at(12)}, 100);
  Run.line(15, LineState::DidNotRun);
  Run.line(16, LineState::Unknown).Reason = "some reason";
  Run.line(17, LineState::Ran);
  EXPECT_EQ(judgeOne(finding("peak-bytes", 15, 17), Run.Run).Result,
            Outcome::NotMeasurable);
  const Verdict Part = judgeOne(finding("peak-bytes", 15, 16), Run.Run);
  EXPECT_EQ(Part.Result, Outcome::NotMeasurable);
  EXPECT_EQ(Part.Sentence,
            "whether the line ran is not known: some reason; no operation of "
            "this line or its loop ran");
  EXPECT_EQ(judgeOne(finding("peak-bytes", 15), Run.Run).Result,
            Outcome::NotReached);
}

TEST(LineHits, CodeThatMayHaveBeenMovedProvesNothing) {
  WithLines Run;
  Run.site("aten::mm", {at(12)}, 100);
  Run.line(15, LineState::MayHaveRun);
  const Verdict V = judgeOne(finding("peak-bytes", 15), Run.Run);
  EXPECT_EQ(V.Result, Outcome::NotMeasurable);
  EXPECT_EQ(V.Sentence.rfind("whether the line ran is not known", 0), 0u)
      << V.Sentence;
}

TEST(LineHits, LinesOfOtherFilesDoNotCount) {
  WithLines Run;
  Run.site("aten::mm", {at(12)}, 100);
  Run.line(15, LineState::Ran).File = "/work/app/other.cpp";
  const Verdict V = judgeOne(finding("peak-bytes", 15), Run.Run);
  EXPECT_EQ(V.Result, Outcome::NotMeasurable);
  EXPECT_NE(V.Sentence.find("no code of its own"), std::string::npos);
}

TEST(LineHits, AFileOfAnotherProgramIsNotReached) {
  WithLines Run;
  Run.site("aten::mm", {at(12)}, 100);
  DiagnosedFinding Other = finding("peak-bytes", 15);
  Other.Statement.File = "/elsewhere/other.cpp";
  EXPECT_EQ(judgeOne(Other, Run.Run).Result, Outcome::NotReached);
}

TEST(LineHits, WithoutThemOperationsDecideAndTheReasonIsSaid) {
  MadeRecording Run;
  Run.site("aten::mm", {at(12)}, 100);
  // A recording of before.
  Verdict V = judgeOne(finding("peak-bytes", 15), Run.Run);
  EXPECT_EQ(V.Result, Outcome::NotReached);
  EXPECT_EQ(V.Sentence, "no operation of this line or its loop ran");
  Run.Run.Capabilities["line-hits"].Reason = "--no-line-hits was given";
  V = judgeOne(finding("peak-bytes", 15), Run.Run);
  EXPECT_EQ(V.Result, Outcome::NotReached);
  EXPECT_EQ(V.Sentence,
            "no operation of this line or its loop ran; whether it ran without "
            "one is not known: --no-line-hits was given");
}

TEST(LineHits, ComeBackFromJson) {
  WithLines Run;
  Run.line(15, LineState::Ran, 4);
  Run.line(16, LineState::DidNotRun).Reason = "what holds it was not loaded";
  Run.line(17, LineState::MayHaveRun);
  Run.line(18, LineState::Unknown);
  const auto Text = toJson(Run.Run);
  EXPECT_EQ(Text["lines"][0]["state"], "ran");
  const Recording Back = recordingFromJson(Text, "here");
  EXPECT_EQ(toJson(Back), Text);
  ASSERT_EQ(Back.Lines.size(), 4u);
  EXPECT_EQ(Back.Lines[0].Places, 4u);
  EXPECT_EQ(Back.Lines[1].State, LineState::DidNotRun);
  EXPECT_EQ(Back.Lines[2].State, LineState::MayHaveRun);
  EXPECT_EQ(Back.Lines[3].State, LineState::Unknown);
}

TEST(LineHits, AllLinesOfStatementsAreWanted) {
  const WantedLines Wanted =
      wantedLines({finding("value", 3), finding("value", 7, 9)});
  EXPECT_EQ(Wanted, (WantedLines{{"train.cpp", {3, 7, 8, 9}}}));
}

/// An address of code of this program, as the file numbers it.
uint64_t someCode() {
  uint64_t Base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info *Info, size_t, void *To) {
        *static_cast<uint64_t *>(To) = Info->dlpi_addr;
        return 1;
      },
      &Base);
  return reinterpret_cast<uint64_t>(&someCode) - Base;
}

class Table : public ::testing::Test {
protected:
  /// A row as objdump prints it.
  void row(const std::string &Name, const std::string &Line, uint64_t Address,
           const std::string &Rest = "") {
    Text << std::left << std::setw(35) << Name << "  " << Line
         << "              0x" << std::hex << Address << std::dec << Rest
         << '\n';
  }
  LineTable table() {
    return parseLineTable(Text, {{"train.cpp", {11, 12}}}, In);
  }

  const Code In{"/proc/self/exe"};
  const uint64_t At = someCode();
  std::stringstream Text;
};

TEST_F(Table, TellsWhereStatementsBegin) {
  Text << "\na.out:     file format elf64-x86-64\n\n"
       << "Contents of the .debug_line section:\n\n"
       << "CU: sub folder/train.cpp:\n"
       << "File name    Line number    Starting address    View    Stmt\n";
  // Clang's names have folders in DWARF 5; GCC has numbers of views.
  row("sub folder/train.cpp", "11", At, "               x");
  row("sub folder/train.cpp", "12", At + 4);
  Text << "\n./vector.h:[++]\n";
  row("vector.h", "11", At + 6, "       1       x");
  row("train.cpp", "12", At + 6, "       2       x");
  row("train.cpp", "-", At + 8);
  const LineTable Result = table();
  ASSERT_EQ(Result.At.size(), 3u);
  const std::pair<std::string, unsigned> Line11{"train.cpp", 11},
      Line12{"train.cpp", 12};
  EXPECT_EQ(Result.At.at(At), (LinesAt{{Line11, true}}));
  EXPECT_EQ(Result.At.at(At + 4), (LinesAt{{Line12, false}}));
  EXPECT_EQ(Result.At.at(At + 6),
            (LinesAt{{Line12, true}, {{"vector.h", 11}, true}}));
  EXPECT_EQ(Result.Own.size(), 3u);
}

TEST_F(Table, LeavesOutWhatTheLinkerHasThrownAway) {
  row("train.cpp", "11", 0, "    x");
  // Part of it would be the code of others.
  row("train.cpp", "12", At, "    x");
  row("train.cpp", "-", At + 8);
  row("train.cpp", "11", ~uint64_t(0) - 16, "    x");
  row("train.cpp", "-", ~uint64_t(0) - 8);
  // Never ended.
  row("train.cpp", "11", At, "    x");
  const LineTable Result = table();
  EXPECT_TRUE(Result.At.empty());
  EXPECT_TRUE(Result.All.empty());
}

TEST_F(Table, KeepsFunctionsOfOtherFilesApart) {
  row("other.cpp", "11", At, "    x");
  row("other.cpp", "END", At + 4);
  row("train.cpp", "30", At + 4, "    x");
  row("train.cpp", "31", At + 6, "    x    END");
  const LineTable Result = table();
  EXPECT_TRUE(Result.At.empty());
}

TEST(Code, HasItsBytesAndId) {
  const Code In("/proc/self/exe");
  const uint64_t At = someCode();
  EXPECT_TRUE(In.holds(At, At + 16));
  EXPECT_FALSE(In.holds(At + 16, At));
  EXPECT_FALSE(In.holds(0, 16));
  EXPECT_EQ(In.at(At, 8),
            std::string_view(reinterpret_cast<const char *>(&someCode), 8));
  EXPECT_TRUE(In.at(0, 8).empty());
  EXPECT_TRUE(Code("/proc/self/status").at(At, 8).empty());
}

} // namespace
