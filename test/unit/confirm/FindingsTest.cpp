#include "findings/Read.h"
#include "support/Errors.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace torchtidy::confirm;
using torchtidy::FindingKind;
using torchtidy::NoteRole;
namespace fs = std::filesystem;

namespace {

constexpr const char *Source = "void train() {\n"
                               "  for (auto &batch : loader) {\n"
                               "    auto loss = net->forward(batch.data,\n"
                               "                             \"a;b\", ';');\n"
                               "    losses.push_back(loss);\n"
                               "  }\n"
                               "}\n";

/// A source that formats without lines and ranges are completed from.
class Findings : public testing::Test {
protected:
  void SetUp() override {
    Folder =
        fs::path(testing::TempDir()) / ("findings" + std::to_string(getpid()));
    fs::create_directories(Folder);
    File = (Folder / "train.cpp").string();
    std::ofstream(File) << Source;
  }
  void TearDown() override { fs::remove_all(Folder); }

  static std::string errorOf(const std::string &Text) {
    try {
      parseFindings(Text, "the-file");
    } catch (const UserError &Error) {
      return Error.what();
    }
    return "";
  }

  fs::path Folder;
  std::string File;
};

TEST_F(Findings, Text) {
  const std::string Text =
      File + ":5:5: warning: tensor 'loss' kept [torch-retained-graph]\n" +
      "    5 |     losses.push_back(loss);\n" + "      |     ^~~\n" + File +
      ":3:17: note: the graph is built here\n" + File +
      ":2:3: note: in every iteration of this loop\n" + File +
      ":3:10: warning: unused [clang-diagnostic-unused,-warnings-as-errors]\n" +
      File + ":3:10: note: of the other one\n" + File +
      ":5:5: warning: tensor 'loss' kept [torch-retained-graph]\n" +
      "3 warnings generated.\n";
  const FindingsFile Read = parseFindings(Text, "x");
  ASSERT_EQ(Read.Findings.size(), 1u);
  EXPECT_EQ(Read.Others, 1u);
  const DiagnosedFinding &F = Read.Findings[0];
  EXPECT_EQ(F.Check, "torch-retained-graph");
  EXPECT_EQ(F.Message, "tensor 'loss' kept");
  EXPECT_EQ(F.Evidence, "graph-nodes-per-iteration");
  EXPECT_EQ(F.Statement.First, 5u);
  EXPECT_EQ(F.Statement.Last, 5u);
  EXPECT_EQ(F.Notes.size(), 2u);
  EXPECT_FALSE(F.Kind) << "a text does not say it";
  EXPECT_FALSE(F.IterationSite.isKnown()) << "words decide nothing";
  EXPECT_FALSE(F.Loop.isKnown());
}

TEST_F(Findings, StatementEndsWhereItsBracketsDo) {
  const FindingsFile Read = parseFindings(
      File + ":3:17: warning: forward pass [torch-missing-no-grad]\n", "x");
  EXPECT_EQ(Read.Findings.at(0).Statement.Last, 4u);
}

TEST_F(Findings, NothingFound) {
  EXPECT_TRUE(parseFindings("", "x").Findings.empty());
  EXPECT_TRUE(parseFindings("\n", "x").Findings.empty());
  EXPECT_TRUE(parseFindings("7 warnings generated.\n", "x").Findings.empty());
}

TEST_F(Findings, Sarif) {
  const std::string Text = R"({"version": "2.1.0", "runs": [{
    "tool": {"driver": {"name": "torch-tidy", "rules": [
       {"id": "torch-retained-graph"}]}},
    "originalUriBaseIds": {"SRCROOT": {"uri": "file:///work/my%20app/"}},
    "results": [
      {"ruleIndex": 0, "message": {"text": "kept"},
       "locations": [{"physicalLocation": {
          "artifactLocation": {"uri": "src/a%2Bb.cpp", "uriBaseId": "SRCROOT"},
          "region": {"startLine": 5, "startColumn": 7, "endLine": 6}}}],
       "relatedLocations": [{"message": {"text": "the graph is built here"},
          "physicalLocation": {"artifactLocation": {"uri": "file:///x/n.h"},
                               "region": {"startLine": 9}}}],
       "properties": {"torchTidy": {"evidence": "graph-nodes-per-iteration",
          "kind": "overwrites",
          "statement": {"physicalLocation": {
             "artifactLocation": {"uri": "src/a%2Bb.cpp",
                                  "uriBaseId": "SRCROOT"},
             "region": {"startLine": 4, "endLine": 7}}},
          "loop": {"physicalLocation": {
             "artifactLocation": {"uri": "file:///x/n.h"},
             "region": {"startLine": 2, "endLine": 20}}},
          "iterationSite": {"uri": "file:///x/n.h", "startLine": 3}}}},
      {"ruleId": "other-tool", "message": {"text": "unrelated"}}]}]})";
  const FindingsFile Read = parseFindings(Text, "x");
  ASSERT_EQ(Read.Findings.size(), 1u);
  EXPECT_EQ(Read.Others, 1u);
  const DiagnosedFinding &F = Read.Findings[0];
  EXPECT_EQ(F.Check, "torch-retained-graph");
  EXPECT_EQ(F.Statement.File, "/work/my app/src/a+b.cpp");
  EXPECT_EQ(F.Statement.First, 4u);
  EXPECT_EQ(F.Statement.Last, 7u);
  EXPECT_EQ(F.Line, 5u);
  EXPECT_EQ(F.Column, 7u);
  EXPECT_EQ(F.Loop.File, "/x/n.h");
  EXPECT_EQ(F.Loop.Last, 20u);
  // The properties are more exact than the notes.
  EXPECT_EQ(F.IterationSite.First, 3u);
  EXPECT_EQ(F.Notes.at(0).Place.First, 9u);
  EXPECT_FALSE(F.Notes.at(0).Role);
  EXPECT_EQ(F.Kind, FindingKind::GraphOverwritten);
}

TEST_F(Findings, SarifWithoutOurProperties) {
  const std::string Text =
      R"({"version": "2.1.0", "runs": [{"results": [
      {"ruleId": "torch-missing-zero-grad", "message": {"text": "not cleared"},
       "locations": [{"physicalLocation": {"artifactLocation": {"uri": "file://)" +
      File + R"("}, "region": {"startLine": 3, "startColumn": 17}}}]}]},
      {}, {"results": null}]})";
  const FindingsFile Read = parseFindings(Text, "x");
  ASSERT_EQ(Read.Findings.size(), 1u);
  EXPECT_EQ(Read.Findings[0].Evidence, "gradient-accumulation");
  EXPECT_EQ(Read.Findings[0].Statement.Last, 4u);
}

/// A finding at line 5 of a check, of a kind, with a note over lines 2 to 6.
std::string sarifOf(const std::string &Check, const std::string &Kind,
                    const std::string &Role) {
  return R"({"version": "2.1.0", "runs": [{"results": [
    {"ruleId": ")" +
         Check + R"(", "message": {"text": "words"},
     "locations": [{"physicalLocation": {
        "artifactLocation": {"uri": "file:///x/a.cpp"},
        "region": {"startLine": 5, "endLine": 5}}}],
     "relatedLocations": [{"message": {"text": "words"},
        "properties": {"torchTidy": {"role": ")" +
         Role + R"("}},
        "physicalLocation": {"artifactLocation": {"uri": "file:///x/a.cpp"},
                             "region": {"startLine": 2, "endLine": 6}}}],
     "properties": {"torchTidy": {"kind": ")" +
         Kind + R"("}}}]}]})";
}

TEST_F(Findings, RolesOfNotesCompleteAFinding) {
  auto Only = [](const std::string &Text) {
    return parseFindings(Text, "x").Findings.at(0);
  };
  const std::string Check = "torch-retained-graph";
  const DiagnosedFinding Loop = Only(sarifOf(Check, "grows", "loop"));
  EXPECT_EQ(Loop.Notes.at(0).Role, NoteRole::Loop);
  EXPECT_EQ(Loop.Loop.First, 2u);
  EXPECT_EQ(Loop.Loop.Last, 6u);
  EXPECT_FALSE(Loop.IterationSite.isKnown());
  const DiagnosedFinding Built = Only(sarifOf(Check, "grows", "graph-built"));
  EXPECT_EQ(Built.IterationSite.First, 2u);
  EXPECT_FALSE(Built.Loop.isKnown());
  const DiagnosedFinding Other = Only(sarifOf(Check, "grows", "backward"));
  EXPECT_FALSE(Other.IterationSite.isKnown());
  EXPECT_FALSE(Only(sarifOf(Check, "grows", "no-such")).Notes.at(0).Role);
}

TEST_F(Findings, KindsBelongToChecks) {
  auto KindOf = [](const std::string &Check, const std::string &Kind) {
    return parseFindings(sarifOf(Check, Kind, ""), "x").Findings.at(0).Kind;
  };
  EXPECT_EQ(KindOf("torch-retained-graph", "grows"), FindingKind::GraphGrows);
  EXPECT_EQ(KindOf("torch-undetached-hidden-state", "grows"),
            FindingKind::StateGrows);
  EXPECT_FALSE(KindOf("torch-retained-graph", "throws"));
  EXPECT_FALSE(KindOf("torch-retained-graph", "of a later version"));
}

TEST_F(Findings, EveryKindIsFoundByItsName) {
  using namespace torchtidy;
  for (const FindingKindInfo &Each : FindingKinds) {
    EXPECT_EQ(findKind(Each.Check, Each.Name), Each.Kind) << Each.Name;
    EXPECT_EQ(infoOf(Each.Kind).Name, Each.Name);
    EXPECT_NE(evidenceOf(std::string(Each.Check)), "") << Each.Check;
  }
  for (const NoteRoleInfo &Each : NoteRoles)
    EXPECT_EQ(findRole(Each.Name), Each.Role) << Each.Name;
}

TEST_F(Findings, UnreadableInput) {
  EXPECT_NE(errorOf("{\"runs\": [").find("'the-file' is damaged"),
            std::string::npos);
  EXPECT_NE(errorOf("{\"runs\": 5e99999}").find("'the-file' is damaged"),
            std::string::npos);
  EXPECT_NE(errorOf("{\"a\": 1}").find("not SARIF"), std::string::npos);
  EXPECT_NE(errorOf("{\"version\": \"1.0\", \"runs\": []}").find("SARIF 1.0"),
            std::string::npos);
  EXPECT_NE(errorOf("int main() {}\n").find("holds no findings"),
            std::string::npos);
  EXPECT_NE(errorOf("\x7f"
                    "ELF\x02\x01")
                .find("holds no findings"),
            std::string::npos);
  EXPECT_THROW(readFindings("/there/is/no.sarif"), UserError);
  EXPECT_THROW(readFindings("/"), UserError);
}

TEST_F(Findings, Yaml) {
  const std::string Text =
      "---\nMainSourceFile: 'x'\nDiagnostics:\n"
      "  - DiagnosticName: torch-retained-graph\n"
      "    DiagnosticMessage:\n"
      "      Message: kept\n"
      "      FilePath: train.cpp\n"
      "      FileOffset: " +
      std::to_string(std::string(Source).find("losses.push_back")) +
      "\n"
      "      Replacements: []\n"
      "    Notes:\n"
      "      - Message: the graph is built here\n"
      "        FilePath: train.cpp\n"
      "        FileOffset: " +
      std::to_string(std::string(Source).find("net->forward")) +
      "\n"
      "    Level: Warning\n"
      "    BuildDirectory: '" +
      Folder.string() + "'\n...\n";
  const std::string Error = errorOf(Text);
  if (Error.find("without yaml-cpp") != std::string::npos)
    GTEST_SKIP() << Error;
  const FindingsFile Read = parseFindings(Text, "x");
  ASSERT_EQ(Read.Findings.size(), 1u) << Error;
  const DiagnosedFinding &F = Read.Findings[0];
  EXPECT_EQ(F.Statement.File, File);
  EXPECT_EQ(F.Line, 5u);
  EXPECT_EQ(F.Column, 5u);
  EXPECT_EQ(F.Notes.at(0).Place.First, 3u);
  EXPECT_FALSE(F.Kind);
  EXPECT_FALSE(F.IterationSite.isKnown()) << "words decide nothing";
}

TEST_F(Findings, YamlOfOthers) {
  EXPECT_NE(errorOf("---\nkey: value\n"), "");
  EXPECT_NE(errorOf("---\n- [broken\n"), "");
}

} // namespace
