// What 'torch-confirm fix' does without building anything: edits and the places
// behind them, CMakeCache.txt, outputs beside each other.
#include "Recordings.h"
#include "findings/Read.h"
#include "fix/CMakeCache.h"
#include "fix/CopyBuild.h"
#include "fix/Edits.h"
#include "run/Output.h"
#include "support/Capture.h"
#include "support/Errors.h"
#include "support/Files.h"
#include <gtest/gtest.h>

using namespace torchtidy::confirm;
using namespace torchtidy::confirm::fix;

namespace {

const std::string File = "/src/a.cpp";
const std::string Text = "void f() {\n"
                         "  for (;;) {\n"
                         "    auto noise = torch::empty({8});\n"
                         "    use(noise);\n"
                         "  }\n"
                         "}\n";

size_t at(const std::string &Words) { return Text.find(Words); }

Edit insertion(const std::string &Before, const std::string &New) {
  return {File, at(Before), at(Before), New};
}

/// As a fix that moves a declaration before its loop.
Edits moving() {
  const size_t Begin = at("\n    auto noise"), End = at("\n    use");
  return {insertion("for", "auto noise = torch::empty({8});\n  "),
          {File, Begin, End, ""}};
}

std::string shown(const std::optional<LineRange> &Lines) {
  return Lines
             ? std::to_string(Lines->First) + "-" + std::to_string(Lines->Last)
             : "gone";
}

TEST(FixEdits, AreApplied) {
  EXPECT_EQ(apply(Text, File, moving()), "void f() {\n"
                                         "  auto noise = torch::empty({8});\n"
                                         "  for (;;) {\n"
                                         "    use(noise);\n"
                                         "  }\n"
                                         "}\n");
  EXPECT_EQ(apply(Text, "/src/b.cpp", moving()), Text);
  const Edit Twice = insertion("use", "x; ");
  EXPECT_EQ(apply(Text, File, {Twice, Twice}), apply(Text, File, {Twice}));
}

TEST(FixEdits, ThatOverlap) {
  const Edit Line = moving()[1];
  EXPECT_TRUE(overlap(Line, insertion("noise = ", "x")));
  EXPECT_FALSE(overlap(Line, Line));
  EXPECT_FALSE(overlap(Line, insertion("use", "x")));
  EXPECT_FALSE(overlap(insertion("use", "x"), insertion("use", "y")));
}

TEST(FixEdits, OfColumnsThatCountCodePoints) {
  DiagnosedFinding Finding;
  Finding.Fix = {{File, 1, 5, 1, 6, "y"}, {File, 2, 1, 2, 0, "z"}};
  const Texts Files = {{File, "/*ä*/\nxyz"}};
  const Edits Own = resolve(Finding, Files);
  EXPECT_EQ(apply(Files.at(File), File, Own), "/*ä*y\nz");
  Finding.Fix = {{File, 1, 9, 1, 9, "y"}};
  EXPECT_THROW(resolve(Finding, Files), UserError);
  Finding.Fix = {{File, 9, 1, 9, 1, "y"}};
  EXPECT_THROW(resolve(Finding, Files), UserError);
}

TEST(FixEdits, LinesBehindThem) {
  const Edits All = {insertion("for", "guard;\n  "),
                     insertion("use", "more;\n    ")};
  EXPECT_EQ(shown(moved({File, 1, 1}, Text, All, All)), "1-1");
  EXPECT_EQ(shown(moved({File, 2, 5}, Text, All, All)), "3-7");
  EXPECT_EQ(shown(moved({File, 4, 4}, Text, All, All)), "6-6");
  // What is put behind a line is not of it.
  const Edits Behind = {
      {File, at("\n  }\n}"), at("\n  }\n}"), "\n    clear();"}};
  EXPECT_EQ(shown(moved({File, 4, 4}, Text, Behind, Behind)), "4-4");
  EXPECT_EQ(shown(moved({File, 5, 5}, Text, Behind, Behind)), "6-6");
}

TEST(FixEdits, AStatementThatMoves) {
  const Edits Own = moving();
  EXPECT_EQ(shown(moved({File, 3, 3}, Text, Own, Own)), "2-2");
  // Of another finding's fix it is only gone.
  EXPECT_EQ(shown(moved({File, 3, 3}, Text, Own, {})), "gone");
  EXPECT_EQ(shown(moved({File, 2, 5}, Text, Own, {})), "3-5");
  // The finding's own edits, where they are not applied.
  EXPECT_EQ(shown(moved({File, 3, 3}, Text, {}, Own)), "3-3");
}

TEST(FixEdits, OfSarif) {
  const std::string Log = R"({"version": "2.1.0", "runs": [{"results": [
    {"ruleId": "torch-leaf-inplace", "message": {"text": "x"},
     "locations": [{"physicalLocation": {"artifactLocation": {"uri": "a.cpp"},
                    "region": {"startLine": 3}}}],
     "fixes": [{"artifactChanges": [
       {"artifactLocation": {"uri": "/src/a%20b.h"}, "replacements": [
         {"deletedRegion": {"startLine": 2, "startColumn": 3, "endLine": 2,
                            "endColumn": 3}, "insertedContent": {"text": "y"}},
         {"deletedRegion": {"startLine": 4}}]}]}]}]}]})";
  const FindingsFile Read = parseFindings(Log, "log.sarif");
  ASSERT_EQ(Read.Findings.size(), 1u);
  const std::vector<FindingEdit> &Fix = Read.Findings[0].Fix;
  ASSERT_EQ(Fix.size(), 2u);
  EXPECT_EQ(Fix[0].File, "/src/a b.h");
  EXPECT_EQ(Fix[0].Column, 3u);
  EXPECT_EQ(Fix[0].Text, "y");
  EXPECT_EQ(Fix[1].EndLine, 4u);
  EXPECT_EQ(Fix[1].EndColumn, 0u);
}

TEST(FixCMakeCache, IsReadAndWritten) {
  const CMakeCache Cache("# comment\n"
                         "//help\n"
                         "CMAKE_BUILD_TYPE:STRING=Debug\n"
                         "CMAKE_GENERATOR:INTERNAL=Ninja\n"
                         "p_BINARY_DIR:STATIC=/p/build\n"
                         "Z_LIB:FILEPATH=Z_LIB-NOTFOUND\n"
                         "\"A:B\":BOOL=ON\n"
                         "PADDED:STRING=' x'\n"
                         "GIVEN:UNINITIALIZED=a;b]\n");
  EXPECT_EQ(Cache.value("CMAKE_GENERATOR"), "Ninja");
  EXPECT_EQ(Cache.value("A:B"), "ON");
  EXPECT_EQ(Cache.value("NONE"), "");
  EXPECT_EQ(Cache.script([](const std::string &V) { return V; }),
            "set([[A:B]] [[ON]] CACHE BOOL \"\")\n"
            "set([[CMAKE_BUILD_TYPE]] [[Debug]] CACHE STRING \"\")\n"
            "set([[GIVEN]] [=[a;b]]=] CACHE STRING \"\")\n"
            "set([[PADDED]] [[ x]] CACHE STRING \"\")\n");
}

TEST(FixCMakeCache, FoldersAreReplaced) {
  const auto Never = [](const std::string &) { return false; };
  const auto With = [&](const std::string &Value) {
    return withFolder(Value, "/home/my p", "/copy", Never);
  };
  EXPECT_EQ(With("/home/my p"), "/copy");
  EXPECT_EQ(With("-I/home/my p/include -O2;/home/my p/x"),
            "-I/copy/include -O2;/copy/x");
  EXPECT_EQ(With("/home/my project;/elsewhere/home/my p"),
            "/home/my project;/elsewhere/home/my p");
  // What was not copied stays where it is.
  EXPECT_EQ(
      withFolder("/p/libtorch;/p/cmake -g", "/p", "/copy",
                 [](const std::string &Path) { return Path != "/p/cmake"; }),
      "/p/libtorch;/copy/cmake -g");
}

TEST(FixOutput, LineByLine) {
  const TemporaryFolder Folder;
  const auto Write = [&](const std::string &Name, const std::string &Words) {
    writeFile(Folder.path() + "/" + Name, Words);
    return Folder.path() + "/" + Name;
  };
  const std::string A = Write("a", "1\n2\n3\n4\n"),
                    B = Write("b", "1\nx\n3\ny");
  EXPECT_TRUE(compareOutputs(A, A).isSame());
  const OutputDifference Both = compareOutputs(A, B);
  EXPECT_EQ(Both.Count, 2u);
  EXPECT_EQ(Both.First[0].Number, 2u);
  EXPECT_EQ(Both.First[1].After, "y");
  EXPECT_EQ(lineNumbers(Both), "2 and 4");
  EXPECT_EQ(compareOutputs(A, B, {}, {2, 4}).Count, 0u);
  EXPECT_EQ(differentLines(A, B), (std::set<size_t>{2, 4}));
  // An output that ends earlier, or without the end of its last line.
  EXPECT_EQ(compareOutputs(A, Write("c", "1\n")).Count, 3u);
  EXPECT_EQ(compareOutputs(A, Write("d", "1\n2\n3\n4")).Count, 1u);
  EXPECT_EQ(lineNumbers(compareOutputs(A, Write("e", "a\nb\nc\nd\ne\nf\ng\n"))),
            "1, 2, 3, 4, 5 and 2 others");
  const IgnoredLines Some("--ignore-lines", "^(2|x)$");
  EXPECT_EQ(compareOutputs(A, B, Some).Count, 1u);
  EXPECT_EQ(compareOutputs(A, B, Some).Ignored, 1u);
  EXPECT_EQ(differentLines(A, B, Some), (std::set<size_t>{4}));
  // In both: a line must not vanish behind one that is ignored.
  EXPECT_EQ(compareOutputs(A, B, IgnoredLines("", "^2")).Count, 2u);
  EXPECT_THROW(IgnoredLines("--ignore-lines", "("), UserError);
  EXPECT_THROW(compareOutputs(A, Folder.path() + "/none"), UserError);
}

TEST(FixBuild, TheFirstErrorIsTold) {
  EXPECT_EQ(firstError("[1/2] Building\na.cpp:3: error: no\n  x\n  ^\nmore\n"),
            "a.cpp:3: error: no\n  x\n  ^");
  EXPECT_EQ(firstError("ld: undefined reference to `f'\n"),
            "ld: undefined reference to `f'");
  EXPECT_EQ(firstError("it failed"), "it failed");
}

} // namespace
