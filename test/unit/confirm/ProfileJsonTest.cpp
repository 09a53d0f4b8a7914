// The report for machines and the page that is made of it.
#include "Profiles.h"
#include "export/Curves.h"
#include "export/Json.h"
#include "export/Page.h"
#include "support/Errors.h"
#include "support/Files.h"
#include <gtest/gtest.h>

namespace torchtidy::confirm {
namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

const std::vector<std::string> None;

testing::AssertionResult has(const std::string &Text, const std::string &Part) {
  if (Text.find(Part) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "there is no " << Part << " in " << Text.substr(0, 3000);
}

nlohmann::json plain(const ordered_json &Value) {
  return nlohmann::json::parse(Value.dump());
}

SchemaReader schema() {
  return SchemaReader(nlohmann::json::parse(
      readFile((dataFolder() / "report.schema.json").string())));
}

TEST(ProfileJson, IsAsItsSchemaSaysAndHasAllOfIt) {
  MadeReport Made;
  SchemaReader Schema = schema();
  EXPECT_EQ(Schema.check(plain(jsonOf(Made.Run, Made.Of))), None);
  EXPECT_EQ(Schema.neverSeen(), None);
}

TEST(ProfileJson, TheSchemaRefusesWhatIsWrong) {
  MadeReport Made;
  const nlohmann::json Right = plain(jsonOf(Made.Run, Made.Of));
  SchemaReader Schema = schema();
  for (const auto &[Place, Value] :
       std::vector<std::pair<std::string, nlohmann::json>>{
           {"/version", 2},
           {"/causes/0/kind", "magic"},
           {"/causes/0/sites/0", -1},
           {"/sites/0/hits", "many"},
           {"/moments/0/more", 1},
           {"/curves/cpu/0", 1.5}}) {
    nlohmann::json Wrong = Right;
    Wrong[nlohmann::json::json_pointer(Place)] = Value;
    EXPECT_EQ(Schema.check(Wrong).size(), 1U) << Place;
  }
  nlohmann::json Wrong = Right;
  Wrong.erase("headline");
  EXPECT_EQ(Schema.check(Wrong).size(), 1U);
}

TEST(ProfileJson, WhatIsNotKnownIsAbsent) {
  const Recording Run;
  const ordered_json Report = jsonOf(Run, Profile());
  EXPECT_EQ(schema().check(plain(Report)), None);
  for (const char *Name : {"exitCode", "signal", "libtorch", "cudaDevice"})
    EXPECT_FALSE(Report["program"].contains(Name)) << Name;
  EXPECT_EQ(Report["totals"].size(), 1U) << Report["totals"];
  EXPECT_EQ(Report["growth"].dump(),
            R"({"trend":"unknown","unit":"iteration"})");
  EXPECT_EQ(Report["curves"].size(), 1U);
  EXPECT_TRUE(Report["peaks"].empty());
  EXPECT_FALSE(Report.contains("evaluation"));
}

TEST(ProfileJson, OnTheCpuThereIsNothingOfCuda) {
  MadeReport Made;
  Made.Run.Capabilities["cuda-memory"] = {false, "no CUDA"};
  const ordered_json Report = jsonOf(Made.Run, Made.Of);
  EXPECT_FALSE(Report["totals"].contains("peakCuda"));
  EXPECT_FALSE(Report["curves"].contains("reserved"));
  EXPECT_EQ(Report["moments"][0]["held"].dump(),
            R"([{"site":0,"cpu":64,"nodes":72}])");
  EXPECT_TRUE(has(Report["notMeasured"].dump(),
                  R"({"quantity":"cuda-memory","reason":"no CUDA"})"));
}

TEST(ProfileJson, WhatAnIterationDidNotDoIsAbsent) {
  MadeReport Made;
  Made.Run.Iterations[0].BackwardBegin = Made.Run.Iterations[0].BackwardEnd =
      Made.Run.Iterations[0].StepBegin = 0;
  const ordered_json Report = jsonOf(Made.Run, Made.Of);
  EXPECT_EQ(Report["iterations"]["recorded"][0].dump(),
            R"({"number":1,"begin":0.1,"end":0.9,"bytesBefore":1,)"
            R"("bytesAfter":4,"peak":5,"nodesAfter":6})");
}

TEST(ProfileJson, APeakDoesNotGrow) {
  MadeReport Made;
  Made.Of.Causes[0].BytesPerUnit = Made.Of.Causes[0].NodesPerUnit = 0;
  Made.Of.Causes[0].Check.clear();
  const ordered_json Cause = jsonOf(Made.Run, Made.Of)["causes"][0];
  EXPECT_FALSE(Cause.contains("bytesPerUnit"));
  EXPECT_FALSE(Cause.contains("check"));
}

TEST(ProfileJson, CurvesAreInOrderOfTimeWithGaps) {
  MadeReport Made;
  Made.Run.Sites[0].Series = {{1, 2.5, 10}, {2, 0.5, 20}};
  const ordered_json Curves = jsonOf(Made.Run, Made.Of)["curves"];
  EXPECT_EQ(Curves["seconds"].dump(), "[0.5,1.0,2.5]");
  EXPECT_EQ(Curves["cpu"].dump(), "[20,64,10]");
  EXPECT_EQ(Curves["resident"].dump(), "[null,800,null]");
}

TEST(ProfileJson, LongCurvesKeepTheirExtremes) {
  MadeReport Made;
  Site &S = Made.Run.Sites[0];
  S.Series.clear();
  for (int I = 0; I < 100000; ++I) {
    Sample Each;
    Each.Seconds = I * 0.001;
    Each.CpuBytes = I == 31415 ? 5000 : I == 27182 ? 3 : 1000 + I % 7;
    Each.Nodes = I == 70000 ? 99 : 5;
    S.Series.push_back(Each);
  }
  const std::vector<CurvePoint> Points = curvesOf(Made.Run);
  EXPECT_LT(Points.size(), 7000U);
  EXPECT_TRUE(std::is_sorted(Points.begin(), Points.end(),
                             [](const CurvePoint &A, const CurvePoint &B) {
                               return A.Seconds < B.Seconds;
                             }));
  const auto Has = [&](const std::function<bool(const CurvePoint &)> &Is) {
    return std::count_if(Points.begin(), Points.end(), Is);
  };
  EXPECT_EQ(Has([](const CurvePoint &P) { return P.Cpu == 5000; }), 1);
  EXPECT_EQ(Has([](const CurvePoint &P) { return P.Cpu == 3; }), 1);
  EXPECT_EQ(Has([](const CurvePoint &P) { return P.Nodes == 99; }), 1);
  // The moment.
  EXPECT_EQ(Has([](const CurvePoint &P) { return P.Resident == 800; }), 1);
  EXPECT_DOUBLE_EQ(Points.back().Seconds, 99.999);
}

/// Our own page, and libraries in one word each.
class ProfilePage : public testing::Test {
protected:
  ProfilePage() {
    std::string Name = (fs::temp_directory_path() / "pageXXXXXX").string();
    Data = mkdtemp(Name.data());
    fs::create_directory_symlink(dataFolder() / "page", Data / "page");
    fs::create_directory(Data / "page-libraries");
    for (const char *File : {"libraries.js", "libraries.css", "licences.txt"})
      writeFile((Data / "page-libraries" / File).string(), "<MIT> {{REPORT}}");
  }
  ~ProfilePage() override { fs::remove_all(Data); }

  /// What the page's scripts would read.
  static ordered_json embedded(const std::string &Page) {
    const std::string Begin =
        "<script id=\"report\" type=\"application/json\">";
    const size_t At = Page.find(Begin) + Begin.size();
    return ordered_json::parse(Page.substr(At, Page.find('<', At) - At));
  }

  fs::path Data;
  MadeReport Made;
};

TEST_F(ProfilePage, WithoutLibrariesItSaysWhatToDo) {
  fs::remove_all(Data / "page-libraries");
  try {
    pageOf(jsonOf(Made.Run, Made.Of), Data);
    FAIL() << "there is a page";
  } catch (const UserError &Error) {
    EXPECT_TRUE(has(Error.what(), "npm"));
    EXPECT_TRUE(has(Error.what(), "--json"));
  }
}

TEST_F(ProfilePage, HasTheWholeReportAndNothingBreaksOut) {
  Made.Of.Headline = "</title></script><!-- {{SCRIPTS}} & so on";
  const ordered_json Report = jsonOf(Made.Run, Made.Of);
  const std::string Page = pageOf(Report, Data);
  EXPECT_EQ(embedded(Page)["report"], Report);
  EXPECT_TRUE(has(Page, "<title>&lt;/title>&lt;/script>&lt;!-- "
                        "{{SCRIPTS}} &amp; so on</title>"));
  EXPECT_TRUE(has(Page, "&lt;MIT> {{REPORT}}"));
  EXPECT_FALSE(has(Page, "no </script>"));
}

TEST_F(ProfilePage, TextThatIsNoUtf8IsShownAllTheSame) {
  Made.Run.Command = {"./train", "caf\xe9"};
  EXPECT_EQ(embedded(pageOf(jsonOf(Made.Run, Made.Of),
                            Data))["report"]["program"]["command"][1],
            "caf\xef\xbf\xbd");
}

TEST_F(ProfilePage, ShowsTheLinesAroundACause) {
  const std::string Source = (Data / "train.cpp").string();
  writeFile(Source, "1\n2\n3\n4\n5\n6\n7\n8\n");
  Made.Of.Causes[0].Line = {Source, 7, "train"};
  const ordered_json Lines =
      embedded(pageOf(jsonOf(Made.Run, Made.Of), Data))["sources"][0]["lines"];
  EXPECT_EQ(Lines.dump(), R"(["4","5","6","7","8"])");
  // A file that has become shorter is not the one that the program was built
  // of.
  Made.Of.Causes[0].Line.Line = 9;
  EXPECT_EQ(embedded(pageOf(jsonOf(Made.Run, Made.Of), Data))["sources"].size(),
            0U);
}

TEST_F(ProfilePage, LeavesMomentsOutWhereAllWouldBeTooMuch) {
  Moment Each;
  Each.By.assign(1000, {0, 1, 0, 1});
  Made.Run.Moments.assign(250, Each);
  Made.Run.Moments[123].Kind = MomentKind::Failure;
  const ordered_json Moments =
      embedded(pageOf(jsonOf(Made.Run, Made.Of), Data))["report"]["moments"];
  ASSERT_EQ(Moments.size(), 250U);
  const auto Held =
      std::count_if(Moments.begin(), Moments.end(),
                    [](const ordered_json &M) { return M.contains("held"); });
  EXPECT_LT(Held, 135);
  EXPECT_GT(Held, 115);
  for (size_t Kept : {0, 123, 249})
    EXPECT_TRUE(Moments[Kept].contains("held")) << Kept;
}

} // namespace
} // namespace torchtidy::confirm
