#include "export/Diff.h"
#include "ReportRecording.h"
#include "export/Json.h"
#include <fstream>
#include <gtest/gtest.h>

using namespace torchtidy::confirm;
using nlohmann::json;
using nlohmann::ordered_json;

namespace {

json reportOf(MadeTraining &Made) {
  Recording &Run = Made.run();
  Run.PeakCpuBytes = 0;
  for (const Moment &Each : Run.Moments)
    Run.PeakCpuBytes = std::max(Run.PeakCpuBytes, Each.CpuBytes);
  // As a program reads it.
  return json::parse(jsonOf(Run, Made.What).dump());
}

/// Of the lines at the peak.
void linesOf(MadeTraining &Made) {
  const Moment &Peak = Made.run().Moments[Made.What.CpuPeak->Moment];
  for (const Held &Each : Peak.By)
    Made.What.CpuPeak->Lines.push_back({Made.run().Sites[Each.Site].Stack[0],
                                        {Each.Site},
                                        Each.CpuBytes,
                                        Each.Nodes});
}

MadeTraining before() {
  MadeTraining Made;
  Made.What.BytesPerUnit = 2048;
  Made.What.NodesPerUnit = 1;
  Made.What.Times = {{"aten::linear",
                      Made.run().Sites[MadeTraining::Forward].Stack[0],
                      {MadeTraining::Forward},
                      0.08,
                      0.16,
                      40,
                      0}};
  linesOf(Made);
  return Made;
}

/// The kept graph is gone; three lines more stand above all.
MadeTraining after() {
  MadeTraining Made;
  Recording &Run = Made.run();
  for (Site &S : Run.Sites)
    for (SourceLine &Frame : S.Stack) {
      Frame.Line += 3;
      Frame.File = "/elsewhere/" + Frame.File.substr(6);
    }
  for (Moment &Each : Run.Moments)
    for (Held &Part : Each.By)
      if (Part.Site == MadeTraining::Loss) {
        Each.CpuBytes -= Part.CpuBytes - 2048;
        Part.CpuBytes = 2048;
      }
  Made.What.Memory = Trend::Level;
  Made.What.Headline = "no growth";
  Cause Peak = Made.What.Causes[1];
  Peak.Line.Line += 3;
  Made.What.Causes = {Peak};
  Made.What.Times = {{"aten::linear",
                      Run.Sites[MadeTraining::Forward].Stack[0],
                      {MadeTraining::Forward},
                      0.06,
                      0.12,
                      40,
                      0}};
  linesOf(Made);
  Run.Seconds = 0.4;
  return Made;
}

ordered_json diff() {
  MadeTraining Old = before(), New = after();
  return diffJson(reportOf(Old), reportOf(New));
}

TEST(Diff, Totals) {
  const ordered_json Totals = diff()["totals"];
  EXPECT_EQ(Totals["bytesPerUnit"],
            (ordered_json{{"before", 2048.0}, {"after", 0.0}}));
  EXPECT_EQ(Totals["trend"],
            (ordered_json{{"before", "grows"}, {"after", "level"}}));
  EXPECT_EQ(Totals["peakCpu"],
            (ordered_json{{"before", 419 * 1024}, {"after", 341 * 1024}}));
  EXPECT_FALSE(Totals.contains("peakCuda"));
}

TEST(Diff, CausesThatAreGoneOrTheSame) {
  const ordered_json Causes = diff()["causes"];
  ASSERT_EQ(Causes.size(), 2u);
  EXPECT_EQ(Causes[0]["state"], "gone");
  EXPECT_EQ(Causes[0]["kind"], "kept graphs");
  EXPECT_EQ(Causes[0]["before"]["bytesPerUnit"], 2048.0);
  EXPECT_FALSE(Causes[0].contains("after"));
  EXPECT_EQ(Causes[1]["state"], "same") << "three lines further down";
  EXPECT_EQ(Causes[1]["line"]["line"], 10);
  EXPECT_EQ(Causes[1]["lineBefore"]["line"], 7);
}

TEST(Diff, TheOtherWayRoundIsNew) {
  MadeTraining Old = before(), New = after();
  const ordered_json Back = diffJson(reportOf(New), reportOf(Old));
  EXPECT_EQ(Back["causes"][0]["state"], "new");
  EXPECT_EQ(moreGrowthOf(Back), 2048.0);
  EXPECT_NE(diffText(Back).find("NEW      kept graphs  train.cpp:14  train\n"
                                "         80 KiB, 2 KiB per iteration\n"
                                "         keep loss.item<float>()"),
            std::string::npos)
      << diffText(Back);
}

TEST(Diff, MovedLinesAreTheSameLines) {
  const ordered_json Lines = diff()["linesAtPeak"]["cpu"];
  // All others hold what they held.
  ASSERT_EQ(Lines.size(), 1u) << Lines;
  EXPECT_EQ(Lines[0]["operation"], "aten::mse_loss");
  EXPECT_EQ(Lines[0]["line"]["line"], 17);
  EXPECT_EQ(Lines[0]["lineBefore"]["line"], 14);
  EXPECT_EQ(Lines[0]["before"], 80 * 1024.0);
  EXPECT_EQ(Lines[0]["after"], 2 * 1024.0);
}

/// A report whose peak has these lines of one function and operation.
json withLines(const std::vector<std::pair<unsigned, int64_t>> &Lines) {
  MadeTraining Made;
  for (const auto &[Line, Bytes] : Lines)
    Made.What.CpuPeak->Lines.push_back(
        {at(Line), {MadeTraining::Forward}, Bytes, 0});
  return reportOf(Made);
}

std::string changesOf(const std::vector<std::pair<unsigned, int64_t>> &Before,
                      const std::vector<std::pair<unsigned, int64_t>> &After) {
  std::string Result;
  const ordered_json Diff = diffJson(withLines(Before), withLines(After));
  for (const ordered_json &Each : Diff["linesAtPeak"]["cpu"])
    Result += std::to_string(Each["line"]["line"].get<int>()) + ": " +
              std::to_string(Each["before"].get<int>()) + " to " +
              std::to_string(Each["after"].get<int>()) + "; ";
  return Result;
}

TEST(Diff, SeveralLinesOfOneFunctionAndOperation) {
  // All moved: in their order.
  EXPECT_EQ(changesOf({{10, 100}, {20, 200}}, {{13, 100}, {23, 210}}),
            "23: 200 to 210; ");
  // One more: those that stand where they stood are themselves.
  EXPECT_EQ(changesOf({{10, 100}, {20, 200}}, {{10, 100}, {15, 50}, {20, 200}}),
            "15: 0 to 50; ");
  EXPECT_EQ(changesOf({{10, 100}, {20, 200}}, {{20, 200}}), "10: 100 to 0; ");
}

TEST(Diff, Text) {
  MadeTraining Old = before(), New = after();
  const std::string Text = diffOf(reportOf(Old), reportOf(New));
  EXPECT_EQ(
      Text,
      "before: memory grows by 2.0 KiB per iteration\n"
      "after:  no growth\n"
      "\n"
      "peak of CPU tensors         419 KiB -> 341 KiB (-19 %)\n"
      "growth per iteration        2 KiB -> 0 bytes (-100 %)\n"
      "graph nodes per iteration   1 -> 0 (-100 %)\n"
      "time of the run             500 ms -> 400 ms (-20 %)\n"
      "\n"
      "GONE     kept graphs  train.cpp:14  train\n"
      "         80 KiB, 2 KiB per iteration\n"
      "SAME     peak  net \"wide\".h:10 (was line 7)  Net::forward\n"
      "         200 KiB\n"
      "\n"
      "CPU memory at the peak, by line\n"
      "  -78 KiB     80 KiB -> 2 KiB           train.cpp:17 (was line 14)  "
      "train  aten::mse_loss\n"
      "\n"
      "time, by line\n"
      "  -20 ms      80 ms -> 60 ms            net \"wide\".h:10 (was line 7)  "
      "Net::forward  aten::linear\n");
}

TEST(Diff, GrowthThatIsUnknown) {
  MadeTraining Old = before(), New = after();
  New.What.Memory = Trend::Unknown;
  const ordered_json Diff = diffJson(reportOf(Old), reportOf(New));
  EXPECT_EQ(moreGrowthOf(Diff), std::nullopt);
  EXPECT_NE(diffText(Diff).find("growth per iteration        2 KiB -> unknown"),
            std::string::npos);
}

TEST(Diff, ReportThatLacksAPart) {
  MadeTraining Old = before();
  json Broken = reportOf(Old);
  Broken.erase("causes");
  EXPECT_THROW(diffJson(reportOf(Old), Broken), json::exception);
}

/// For test/tool/report-diff.test, as ReportFiles.AreWritten does.
TEST(Diff, FilesAreWritten) {
  const char *Wanted = std::getenv("TORCH_CONFIRM_TEST_FILES");
  const std::string Folder = Wanted ? std::string(Wanted) + "/"
                                    : testing::TempDir() + "torch-confirm-";
  MadeTraining Old = before(), New = after();
  for (const auto &[Name, Report] :
       {std::make_pair("before.json", reportOf(Old)),
        std::make_pair("after.json", reportOf(New))}) {
    std::ofstream File(Folder + Name);
    File << Report.dump(1);
    File.close();
    EXPECT_TRUE(File) << Folder + Name;
    if (!Wanted)
      std::remove((Folder + Name).c_str());
  }
}

} // namespace
