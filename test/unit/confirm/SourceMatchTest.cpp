#include "Recordings.h"
#include "rules/Places.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace torchtidy::confirm;
namespace fs = std::filesystem;

namespace {

SourceMatch matchOf(const std::vector<std::string> &Files) {
  Recording Run;
  for (const std::string &Each : Files)
    Run.Sites.emplace_back().Stack = {{Each, 1, ""}};
  return SourceMatch(Run);
}

TEST(SourceMatch, SamePath) {
  EXPECT_EQ(matchOf({"/a/x.cpp", "/b/x.cpp"}).find("/b/x.cpp"), "/b/x.cpp");
}

TEST(SourceMatch, BuiltElsewhere) {
  const auto Match = matchOf({"/build/src/app/train.cpp", "/build/src/net.h"});
  EXPECT_EQ(Match.find("/home/me/src/app/train.cpp"),
            "/build/src/app/train.cpp");
  EXPECT_EQ(Match.find("/home/me/src/net.h"), "/build/src/net.h");
}

TEST(SourceMatch, RelativePaths) {
  EXPECT_EQ(matchOf({"/build/src/train.cpp"}).find("train.cpp"),
            "/build/src/train.cpp");
  EXPECT_EQ(matchOf({"../src/train.cpp"}).find("/home/me/src/train.cpp"),
            "../src/train.cpp");
}

TEST(SourceMatch, OnlyTheNameInCommonIsNotEnough) {
  EXPECT_FALSE(matchOf({"/build/a/main.cpp"}).find("/home/me/b/main.cpp"));
}

TEST(SourceMatch, Ambiguous) {
  EXPECT_FALSE(
      matchOf({"/x/src/main.cpp", "/y/src/main.cpp"}).find("/z/src/main.cpp"));
}

TEST(SourceMatch, PartsOfNamesAreNotCommon) {
  EXPECT_FALSE(matchOf({"/build/app/retrain.cpp"}).find("/me/app/train.cpp"));
}

TEST(SourceMatch, FilesThatAreBothThereAreDifferent) {
  const fs::path Folder =
      fs::path(testing::TempDir()) / ("match" + std::to_string(getpid()));
  for (const char *Name : {"a/app", "b/app"}) {
    fs::create_directories(Folder / Name);
    std::ofstream(Folder / Name / "x.cpp") << "\n";
  }
  const std::string A = Folder / "a/app/x.cpp", B = Folder / "b/app/x.cpp";
  EXPECT_FALSE(matchOf({A}).find(B));
  // By another path it is the same file.
  fs::create_directory_symlink(Folder / "a", Folder / "c");
  EXPECT_EQ(matchOf({A}).find(Folder / "c/app/x.cpp"), A);
  fs::remove_all(Folder);
}

TEST(Places, IterationsAreThoseOfTheNearestOperations) {
  MadeRecording Run;
  Run.site("aten::mm", {at(7, "cell"), at(12)}, 800);
  Run.site("aten::stack", {at(12)}, 50);
  Run.site("aten::mean", {at(13)}, 50);
  // Under a condition.
  Run.site("aten::neg", {at(12)}, 3);
  const SourceMatch Match(Run.Run);
  const DiagnosedFinding Wide = finding("peak-bytes", 12, 13);
  const Places Where(Wide, Run.Run, Match);
  EXPECT_EQ(Where.iterations(), 50u);
}

TEST(Places, TwoCallsInOneLineAreOne) {
  MadeRecording Run;
  Run.site("aten::add", {at(12)}, 50);
  Run.site("aten::add", {at(12)}, 50);
  const SourceMatch Match(Run.Run);
  const DiagnosedFinding Line = finding("peak-bytes", 12);
  EXPECT_EQ(Places(Line, Run.Run, Match).iterations(), 50u);
}

TEST(Places, CallersAddUp) {
  MadeRecording Run;
  Run.site("aten::add", {at(12, "f"), at(30)}, 50);
  Run.site("aten::add", {at(12, "f"), at(40)}, 20);
  const SourceMatch Match(Run.Run);
  const DiagnosedFinding Line = finding("peak-bytes", 12);
  EXPECT_EQ(Places(Line, Run.Run, Match).iterations(), 70u);
}

TEST(Places, MarksAreNoOperations) {
  MadeRecording Run;
  Run.site("mark:epoch", {at(12)}, 4);
  const SourceMatch Match(Run.Run);
  const DiagnosedFinding Line = finding("peak-bytes", 12);
  EXPECT_TRUE(Places(Line, Run.Run, Match).Statement.empty());
}

} // namespace
