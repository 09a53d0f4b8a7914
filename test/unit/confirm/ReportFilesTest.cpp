// The files of a report for programs of others: the trace, the snapshot and the
// SARIF. With TORCH_CONFIRM_TEST_FILES=FOLDER they are left there, for the
// tests that open them with what they are for (test/tool/report-*.test).
#include "ReportRecording.h"
#include "export/ChromeTrace.h"
#include "export/Sarif.h"
#include "export/Snapshot.h"
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace torchtidy::confirm;
using nlohmann::json;

namespace {

std::string traceOf(const Recording &Run, const Profile &What) {
  std::ostringstream Out;
  writeChromeTrace(Out, Run, What);
  return Out.str();
}

std::string snapshotOf(const Recording &Run, const Profile &What) {
  std::ostringstream Out;
  writeSnapshot(Out, Run, What);
  return Out.str();
}

/// Trace events of a kind.
std::vector<json> eventsOf(const std::string &Trace, const std::string &Phase) {
  std::vector<json> Result;
  const json All = json::parse(Trace);
  for (const json &Each : All["traceEvents"])
    if (Each["ph"] == Phase)
      Result.push_back(Each);
  return Result;
}

double endOf(const json &Slice) {
  return Slice["ts"].get<double>() + Slice["dur"].get<double>();
}

/// Of each thread the slices come in order, and lie apart or in each other.
void expectNesting(const std::vector<json> &Slices) {
  std::map<int64_t, std::vector<json>> Open;
  std::map<int64_t, double> Last;
  for (const json &Each : Slices) {
    const auto Thread = Each["tid"].get<int64_t>();
    EXPECT_GE(Each["ts"].get<double>(), Last[Thread]);
    Last[Thread] = Each["ts"].get<double>();
    auto &Stack = Open[Thread];
    while (!Stack.empty() && endOf(Stack.back()) <= Each["ts"].get<double>())
      Stack.pop_back();
    if (!Stack.empty()) {
      EXPECT_LE(endOf(Each), endOf(Stack.back()) + 1e-4) << Each;
    }
    Stack.push_back(Each);
  }
}

TEST(ChromeTrace, OperationsOfEachThreadNest) {
  MadeTraining Made;
  const auto Slices = eventsOf(traceOf(Made.run(), Made.What), "X");
  // Seven operations, and an iteration with three phases.
  EXPECT_EQ(Slices.size(), MadeTraining::Iterations * 11);
  expectNesting(Slices);
  for (const json &Each : Slices)
    if (Each["name"] == "aten::mse_loss" &&
        Each["tid"] == MadeTraining::Autograd) {
      EXPECT_NEAR(Each["dur"].get<double>(), 1000, 1e-6)
          << "ends with what it lies in";
      EXPECT_EQ(Each["args"]["line"], "/work/app/train.cpp:14");
      EXPECT_EQ(Each["args"]["phase"], "forward");
    }
  const auto Forward =
      std::find_if(Slices.begin(), Slices.end(), [](const json &Each) {
        return Each["name"] == "aten::linear";
      });
  EXPECT_EQ((*Forward)["args"]["shapes"], "Float[32,3] on cpu");
  EXPECT_EQ((*Forward)["args"]["line"], "/work/app/net \"wide\".h:7");
  EXPECT_EQ((*Forward)["args"]["called from"].at(0), "train.cpp:13 train");
}

TEST(ChromeTrace, IterationsHaveTheirPhases) {
  MadeTraining Made;
  std::vector<std::string> Names;
  for (const json &Each : eventsOf(traceOf(Made.run(), Made.What), "X"))
    if (Each["tid"] == 1 && Each["ts"].get<double>() < 19000)
      Names.push_back(Each["name"]);
  EXPECT_EQ(Names, (std::vector<std::string>{"iteration 1", "forward",
                                             "backward", "step"}));
  // Without a backward nothing is said of a forward.
  for (Iteration &Each : Made.run().Iterations)
    Each.BackwardBegin = Each.BackwardEnd = 0;
  for (const json &Each : eventsOf(traceOf(Made.run(), Made.What), "X"))
    EXPECT_NE(Each["name"], "forward");
}

TEST(ChromeTrace, CurvesAndMarks) {
  MadeTraining Made;
  Made.run().Moments.back().Kind = MomentKind::Failure;
  Made.run().Signal = 9;
  const std::string Text = traceOf(Made.run(), Made.What);
  std::map<std::string, int64_t> Highest;
  for (const json &Each : eventsOf(Text, "C"))
    for (const auto &[Unit, Value] : Each["args"].items()) {
      int64_t &Most = Highest[Each["name"].get<std::string>() + " " + Unit];
      Most = std::max(Most, Value.get<int64_t>());
    }
  EXPECT_EQ(Highest,
            (std::map<std::string, int64_t>{{"CPU tensors bytes", 419 * 1024},
                                            {"graph nodes alive", 45},
                                            {"resident bytes", 5419 * 1024}}));
  std::vector<std::string> Names;
  for (const json &Each : eventsOf(Text, "i"))
    Names.push_back(Each["name"]);
  EXPECT_EQ(Names,
            (std::vector<std::string>{"peak of CPU memory: 419 KiB",
                                      "out of memory", "ended by signal 9"}));
}

TEST(ChromeTrace, EmptyRunAndOddNames) {
  Recording Run;
  EXPECT_TRUE(eventsOf(traceOf(Run, {}), "X").empty());
  MadeTraining Made;
  Made.run().Sites[0].Operation = "a\"\n\xff";
  Made.run().Events = {{0, 1, 0, 1}, {0, 2, 0, -1}, {99, 1, 0, 1}};
  const auto Slices = eventsOf(traceOf(Made.run(), {}), "X");
  EXPECT_EQ(Slices.at(Slices.size() - 2)["name"], "a\"\n\xef\xbf\xbd");
  EXPECT_EQ(Slices.back()["dur"], 0.0);
}

TEST(GrowthSarif, OneResultForEachCause) {
  MadeTraining Made;
  const json Log = json::parse(growthSarif(Made.run(), Made.What));
  const json &Run = Log["runs"][0];
  ASSERT_EQ(Run["results"].size(), 2u);
  const json &Graphs = Run["results"][0];
  EXPECT_EQ(Graphs["ruleId"], "torch-confirm/kept-graphs");
  EXPECT_EQ(Graphs["level"], "warning");
  EXPECT_EQ(Graphs["message"]["text"],
            "graphs are kept: 2 KiB and 1 graph node more per iteration, "
            "80 KiB at most (100 % of what grows); without it the run would "
            "need 340 KiB at most; keep loss.item<float>() or "
            "loss.detach(). [torch-retained-graph]");
  const json &Place = Graphs["locations"][0]["physicalLocation"];
  EXPECT_EQ(Place["artifactLocation"]["uri"], "file:///work/app/train.cpp");
  EXPECT_EQ(Place["region"]["startLine"], 14);
  EXPECT_EQ(Graphs["stacks"][0]["frames"].size(), 2u);
  EXPECT_EQ(Graphs["relatedLocations"].size(), 1u);
  const json &Peak = Run["results"][1];
  EXPECT_EQ(Peak["level"], "note");
  EXPECT_EQ(Peak["message"]["text"],
            "this makes the peak of memory: 200 KiB (50 % of the peak).");
  EXPECT_EQ(Peak["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "file:///work/app/net%20%22wide%22.h");
  for (const json &Each : Run["results"])
    EXPECT_EQ(
        Run["tool"]["driver"]["rules"][Each["ruleIndex"].get<size_t>()]["id"],
        Each["ruleId"]);
}

TEST(GrowthSarif, FilesBelowTheFolderAndWhatIsTheSameLater) {
  MadeTraining Made;
  Cause &First = Made.What.Causes[0];
  First.Line.File = std::filesystem::current_path() / "src" / "train.cpp";
  const auto Result = [&] {
    return json::parse(
        growthSarif(Made.run(), Made.What))["runs"][0]["results"][0];
  };
  const json Before = Result();
  EXPECT_EQ(Before["locations"][0]["physicalLocation"]["artifactLocation"],
            (json{{"uri", "src/train.cpp"}, {"uriBaseId", "SRCROOT"}}));
  First.Line.Line += 10;
  EXPECT_EQ(Result()["partialFingerprints"], Before["partialFingerprints"]);
  First.Line.Function = "validate";
  EXPECT_NE(Result()["partialFingerprints"], Before["partialFingerprints"]);
  First.Line = {};
  EXPECT_FALSE(Result().contains("locations"));
}

/// As large as a recording gets.
MadeTraining largeReport() {
  MadeTraining Made;
  Recording &Run = Made.run();
  Run.Sites.resize(3000, Run.Sites[MadeTraining::Forward]);
  Made.What.Sites.resize(3000, {WorkPhase::Forward, MemoryKind::Activations});
  Run.Moments.resize(66);
  for (size_t M = 0; M < Run.Moments.size(); ++M) {
    Moment &Each = Run.Moments[M];
    Each.By.clear();
    Each.CpuBytes = 0;
    Each.Seconds = double(M);
    for (size_t S = 0; S < 3000; ++S) {
      Each.By.push_back({S, int64_t((S * 7919 + M * 104729) % 100000), 0, 1});
      Each.CpuBytes += Each.By.back().CpuBytes;
    }
  }
  Made.What.CpuPeak->Moment = 65;
  Run.Events.clear();
  for (size_t I = 0; I < 32768; ++I)
    Run.Events.push_back({I % 3000, uint32_t(1 + I % 4), double(I) / 1e4,
                          double(I + 3 * (I % 5)) / 1e4});
  return Made;
}

TEST(ReportFiles, LargeRunIsQuick) {
  MadeTraining Made = largeReport();
  const auto Begin = std::chrono::steady_clock::now();
  const std::string Trace = traceOf(Made.run(), Made.What);
  const std::string Snapshot = snapshotOf(Made.run(), Made.What);
  const std::chrono::duration<double> Took =
      std::chrono::steady_clock::now() - Begin;
  EXPECT_EQ(eventsOf(Trace, "X").size(), 32768 + MadeTraining::Iterations * 4);
  EXPECT_GT(Snapshot.size(), 500000u);
  EXPECT_LT(Snapshot.size(), 5000000u);
  RecordProperty("seconds", std::to_string(Took.count()));
  // Far above what it takes, for machines that do much else.
  EXPECT_LT(Took.count(), 10);
}

TEST(ReportFiles, AreWritten) {
  const char *Wanted = std::getenv("TORCH_CONFIRM_TEST_FILES");
  const std::string Folder = Wanted ? std::string(Wanted) + "/"
                                    : testing::TempDir() + "torch-confirm-";
  const auto Write = [&](const std::string &Name, const std::string &Text) {
    const std::string Path = Folder + Name;
    std::ofstream File(Path, std::ios::binary);
    File << Text;
    File.close();
    EXPECT_TRUE(File) << Path;
    if (!Wanted)
      std::remove(Path.c_str());
  };
  for (const bool HasCuda : {false, true}) {
    const std::string Device = HasCuda ? "cuda" : "cpu";
    MadeTraining Made(HasCuda);
    Write(Device + ".trace.json", traceOf(Made.run(), Made.What));
    Write(Device + ".pickle", snapshotOf(Made.run(), Made.What));
    Write(Device + ".sarif", growthSarif(Made.run(), Made.What));
  }
  MadeTraining Large = largeReport();
  Write("large.trace.json", traceOf(Large.run(), Large.What));
  Write("large.pickle", snapshotOf(Large.run(), Large.What));
  Write("empty.trace.json", traceOf({}, {}));
  Write("empty.pickle", snapshotOf({}, {}));
  Write("empty.sarif", growthSarif({}, {}));
}

} // namespace
