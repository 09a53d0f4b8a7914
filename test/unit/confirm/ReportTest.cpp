#include "report/Report.h"
#include "Recordings.h"
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace torchtidy::confirm;
using nlohmann::json;

namespace {

constexpr const char *Sarif = R"({
  "version": "2.1.0",
  "$schema": "https://example.org/sarif.json",
  "runs": [{"tool": {"driver": {"name": "torch-tidy"}}, "results": [
    {"ruleId": "clang-diagnostic-error", "message": {"text": "other"}},
    {"ruleId": "torch-missing-zero-grad", "level": "warning",
     "message": {"text": "not cleared"},
     "locations": [{"physicalLocation": {
       "artifactLocation": {"uri": "file:///work/app/train.cpp"},
       "region": {"startLine": 14}}}],
     "properties": {"mine": 1}}]}]})";

struct Judged {
  explicit Judged(uint64_t Uncleared, const std::string &Text = Sarif)
      : Input(parseFindings(Text, "x.sarif")) {
    Run.site("step:SGD", {at(14)}, 50).UnclearedSteps = Uncleared;
  }
  Report report() const {
    return {Run.Run, Input, judge(Input.Findings, Run.Run)};
  }
  MadeRecording Run;
  FindingsFile Input;
};

TEST(ReportSarif, VerdictIsAddedAndAllElseStays) {
  const std::string Text = asSarif(Judged(49).report());
  json File = json::parse(Text);
  json &Result = File["runs"][0]["results"][1];
  EXPECT_EQ(Result["message"]["text"],
            "not cleared (CONFIRMED: 49 of 50 steps left gradients behind that "
            "the next step applied again)");
  EXPECT_EQ(Result["properties"]["torchConfirm"]["verdict"], "CONFIRMED");
  EXPECT_EQ(Result["properties"]["torchConfirm"]["number"], 49);
  EXPECT_EQ(Result["properties"]["torchConfirm"]["program"]["libtorch"],
            "2.11.0");
  Result["properties"].erase("torchConfirm");
  Result["message"]["text"] = "not cleared";
  EXPECT_EQ(File, json::parse(Sarif));
  EXPECT_LT(Text.find("\"version\""), Text.find("\"$schema\""))
      << "the order of the file is kept";
}

TEST(ReportSarif, AnotherRunReplacesTheVerdict) {
  const std::string First = asSarif(Judged(49).report());
  const std::string Again = asSarif(Judged(0, First).report());
  EXPECT_EQ(Again, asSarif(Judged(0).report()));
  EXPECT_EQ(Again.find("CONFIRMED"), std::string::npos);
}

TEST(ReportSarif, RunThatReachesLessReplacesNothing) {
  const std::string First = asSarif(Judged(49).report());
  Judged Other(49, First);
  Other.Run.Run.Sites[0].Stack[0].Line = 99;
  EXPECT_EQ(asSarif(Other.report()), First);
}

TEST(ReportJson, HoldsWhatTheTextSays) {
  const json All = json::parse(asJson(Judged(49).report()));
  EXPECT_EQ(All["summary"]["CONFIRMED"], 1);
  EXPECT_EQ(All["summary"]["REFUTED"], 0);
  const json &One = All["findings"].at(0);
  EXPECT_EQ(One["verdict"], "CONFIRMED");
  EXPECT_EQ(One["line"], 14);
  EXPECT_EQ(One["unit"], "steps with old gradients");
  EXPECT_EQ(One["iterations"], 50);
}

TEST(ReportText, SummaryCountsEverything) {
  const std::string Text = asText(Judged(49).report());
  EXPECT_NE(Text.find("1 finding: 1 confirmed, 0 refuted, 0 not reached, 0 not "
                      "measurable here; 1 finding of another tool left out"),
            std::string::npos)
      << Text;
}

TEST(ReportText, FindingsOfOtherToolsAreCounted) {
  Judged Case(49);
  Case.Input.Others = 2;
  const std::string Text = asText(Case.report());
  EXPECT_NE(Text.find("; 2 findings of other tools left out"),
            std::string::npos)
      << Text;
}

TEST(ReportText, TwoLinesAndTheRestOnRequest) {
  const Judged Case(49);
  const std::string Text = asText(Case.report());
  EXPECT_NE(Text.find("\n\nCONFIRMED  /work/app/train.cpp:14  "
                      "[torch-missing-zero-grad]\n"
                      "    49 of 50 steps left gradients behind that the next "
                      "step applied again (wrong results)\n\n"
                      "--details shows"),
            std::string::npos)
      << Text;
  TextOptions Details;
  Details.Details = true;
  const std::string All = asText(Case.report(), Details);
  EXPECT_NE(All.find("(wrong results)\n    finding: not cleared\n"
                     "    rule: gradient-accumulation"),
            std::string::npos)
      << All;
  EXPECT_EQ(All.find("--details"), std::string::npos) << All;
}

TEST(ReportText, NotReachedIsOneLine) {
  Judged Case(49);
  Case.Run.Run.Sites[0].Stack[0].Line = 99;
  const std::string Text = asText(Case.report());
  EXPECT_NE(Text.find("\n\nNOT REACHED  /work/app/train.cpp:14  "
                      "[torch-missing-zero-grad]\n"),
            std::string::npos)
      << Text;
  EXPECT_EQ(Text.find("    "), std::string::npos) << Text;
  EXPECT_EQ(Text.find("--details"), std::string::npos) << Text;
}

/// A report about line \p Number of a file that holds \p Line there alone.
std::string reportAbout(const std::string &Line, const TextOptions &Options,
                        unsigned Number = 14) {
  const std::string File =
      testing::TempDir() + "torch-confirm-report-" +
      testing::UnitTest::GetInstance()->current_test_info()->name() + ".cpp";
  std::ofstream(File) << std::string(Number - 1, '\n') << Line << '\n';
  std::string Text = Sarif;
  const std::string Old = "/work/app/train.cpp";
  Text.replace(Text.find(Old), Old.size(), File);
  Judged Case(49, Text);
  Case.Run.Run.Sites[0].Stack[0].File = File;
  std::string Result = asText(Case.report(), Options);
  std::remove(File.c_str());
  return Result;
}

TEST(ReportText, ShowsTheSourceLine) {
  EXPECT_NE(reportAbout("    optimizer.step();  ", {})
                .find("[torch-missing-zero-grad]  optimizer.step();\n"),
            std::string::npos);
  // A file that is shorter by now.
  EXPECT_NE(reportAbout("optimizer.step();", {}, 2)
                .find("[torch-missing-zero-grad]\n"),
            std::string::npos);
  // 57 columns and an ellipsis; no half a character, and nothing that a
  // terminal would obey.
  EXPECT_NE(
      reportAbout("\t" + std::string(56, 'x') + "\xC3\xA9\xC3\xA9\xC3\xA9", {})
          .find("]  " + std::string(56, 'x') + "...\n"),
      std::string::npos);
  EXPECT_NE(reportAbout("f(\"\033[2J\");", {}).find("]  f(\" [2J\");\n"),
            std::string::npos);
}

TEST(ReportText, ColoursWhereTheyAreWanted) {
  TextOptions Color;
  Color.Color = true;
  const Judged Case(49);
  EXPECT_NE(asText(Case.report(), Color).find("\033[1;31mCONFIRMED\033[0m  "),
            std::string::npos);
  EXPECT_EQ(asText(Case.report()).find('\033'), std::string::npos);
}

TEST(ReportText, OperationsAndTheirShapes) {
  Judged Case(49);
  Site &S = Case.Run.Run.Sites[0];
  S.Shapes = {{"Float[4,3] on cpu", 50}};
  TextOptions Details;
  Details.Details = true;
  EXPECT_NE(asText(Case.report(), Details)
                .find("    ran: step:SGD, 50 times, Float[4,3] on cpu\n"),
            std::string::npos)
      << asText(Case.report(), Details);
  S.Shapes.push_back({"Float[2,3] on cpu", 1});
  S.OtherShapes = 7;
  const json One = json::parse(asJson(Case.report()))["findings"].at(0);
  EXPECT_EQ(One["operations"].at(0)["shapes"],
            "varies: Float[4,3] on cpu; Float[2,3] on cpu; and others");
}

TEST(ReportText, EndOfTheProgram) {
  Judged Case(49);
  Case.Run.Run.Signal = 9;
  EXPECT_NE(asText(Case.report()).find("./train ended by signal 9"),
            std::string::npos);
}

} // namespace
