// Which reports of AddressSanitizer prove a finding. They are given as text,
// cut down from what the runtimes of GCC 12 and Clang 19 print of such
// programs.
#include "Recordings.h"
#include "recording/Sanitizer.h"
#include "rules/Rule.h"
#include <gtest/gtest.h>

using namespace torchtidy::confirm;
using torchtidy::FindingKind;
using torchtidy::NoteRole;

namespace {

bool contains(const std::string &Text, const std::string &Part) {
  return Text.find(Part) != std::string::npos;
}

/// "12", or "helper.h:3", in a function: "first(long) 12".
struct Frames {
  std::string Use, Freed, Allocated;
};

std::string frames(const std::string &Text) {
  std::istringstream Words(Text);
  std::string Result, Function, Place;
  for (int Number = 0; Words >> Function >> Place; ++Number)
    Result += "    #" + std::to_string(Number) + " 0x55d1 in " + Function +
              " /work/app/" +
              (contains(Place, ":") ? Place : "train.cpp:" + Place) + "\n";
  return Result;
}

std::string heap(const std::string &Kind, const Frames &At) {
  return "==7==ERROR: AddressSanitizer: " + Kind +
         " on address 0x60b0 at pc 0x1 bp 0x2 sp 0x3\n"
         "READ of size 4 at 0x60b0 thread T0\n" +
         frames(At.Use) +
         "\n0x60b0 is located 0 bytes inside of 256-byte region "
         "[0x60b0,0x61b0)\n" +
         (At.Freed.empty() ? ""
                           : "freed by thread T0 here:\n" + frames(At.Freed)) +
         (At.Allocated.empty() ? ""
                               : "\npreviously allocated by thread T0 here:\n" +
                                     frames(At.Allocated)) +
         "\nSUMMARY: AddressSanitizer: " + Kind + " /work/app/train.cpp:1\n";
}

std::string ofStack(const std::string &Kind, const std::string &Use,
                    const std::string &Function, const std::string &Variable) {
  return "==7==ERROR: AddressSanitizer: " + Kind +
         " on address 0x7f at pc 0x1 bp 0x2 sp 0x3\n"
         "READ of size 4 at 0x7f thread T0\n" +
         frames(Use) +
         "\nAddress 0x7f is located in stack of thread T0 at offset 44 in "
         "frame\n" +
         frames(Function) + "\n  This frame has 1 object(s):\n    [32, 96) " +
         Variable +
         " <== Memory access at offset 44 is inside this variable\n"
         "SUMMARY: AddressSanitizer: " +
         Kind + " /work/app/train.cpp:1\n";
}

using Notes = std::vector<std::pair<unsigned, std::optional<NoteRole>>>;

DiagnosedFinding flagged(std::optional<FindingKind> Kind, unsigned Line,
                         const Notes &With) {
  DiagnosedFinding Result = finding("sanitizer", Line);
  Result.Kind = Kind;
  for (const auto &[At, Role] : With)
    Result.Notes.push_back({{File, At, At}, "here", Role});
  return Result;
}

Verdict verdictOf(const DiagnosedFinding &Finding, const std::string &Reports) {
  // Neither stacks of operations nor anything else was recorded.
  Recording Run;
  Run.Capabilities["sanitizer"].IsAvailable = true;
  Run.SanitizerReports = parseSanitizer(Reports);
  EXPECT_FALSE(Run.SanitizerReports.empty());
  return judgeOne(Finding, Run);
}

/// The reason why it is not confirmed.
std::string whyOpen(const DiagnosedFinding &Finding,
                    const std::string &Reports) {
  const Verdict V = verdictOf(Finding, Reports);
  EXPECT_EQ(V.Result, Outcome::NotMeasurable) << V.Sentence;
  return V.Sentence;
}

// load() declares a vector in line 11, lays a tensor over it in 12, and ends in
// 13.
const DiagnosedFinding OfScope =
    flagged(FindingKind::BlobOwnerLeavesScope, 12, {{11, NoteRole::Declared}});
// A pointer to the data of a temporary tensor; used in line 14.
const DiagnosedFinding OfTemporary =
    flagged(FindingKind::DanglingPointer, 12, {{14, NoteRole::Read}});

TEST(SanitizerRule, MemoryThatEndsWithTheScopeOfItsOwner) {
  // A helper reads it, and a helper has allocated it.
  const Verdict V = verdictOf(
      OfScope, heap("heap-use-after-free",
                    {"peak(at::Tensor) helper.h:3 main 40", "load() 13 main 39",
                     "sample(long) helper.h:7 load() 11 main 39"}));
  EXPECT_EQ(V.Result, Outcome::Confirmed) << V.Sentence;
  EXPECT_EQ(V.Sentence,
            "AddressSanitizer: heap-use-after-free, read of 4 bytes at "
            "helper.h:3, below line 40, memory freed at line 13, allocated at "
            "helper.h:7, below line 11");
  EXPECT_EQ(V.Number, 1);
}

TEST(SanitizerRule, MemoryOfAClassOfTheUsersEndsWithTheObject) {
  EXPECT_EQ(verdictOf(OfScope,
                      heap("heap-use-after-free",
                           {"main 40", "Buffer::~Buffer() helper.h:9 load() 13",
                            "Buffer::Buffer(long) helper.h:5 load() 11"}))
                .Result,
            Outcome::Confirmed);
}

TEST(SanitizerRule, AnInlinedFunctionHasNoParameters) {
  EXPECT_EQ(verdictOf(OfScope, heap("heap-use-after-free",
                                    {"main 40", "load 13", "load() 11"}))
                .Result,
            Outcome::Confirmed);
}

TEST(SanitizerRule, TemporaryOfTheStatement) {
  // LibTorch's own frames have no lines.
  const Verdict V = verdictOf(
      OfTemporary, heap("heap-use-after-free",
                        {"smooth helper.h:3 main 14", "main 12", "main 12"}));
  EXPECT_EQ(V.Result, Outcome::Confirmed) << V.Sentence;
}

TEST(SanitizerRule, MemoryEndsWhereANoteSays) {
  const std::string Grown =
      heap("heap-use-after-free",
           {"main 16", "main 14", "sample helper.h:7 main 10"});
  EXPECT_EQ(verdictOf(flagged(FindingKind::BlobOwnerReallocates, 12,
                              {{14, NoteRole::MemoryEnds}}),
                      Grown)
                .Result,
            Outcome::Confirmed);
  // Where it is read, other memory may be freed.
  EXPECT_TRUE(contains(whyOpen(flagged(FindingKind::BlobOwnerReallocates, 12,
                                       {{14, NoteRole::Read}}),
                               Grown),
                       "not freed where that of the finding ends"));
  // Texts have no roles: one note is the end, another one the use.
  EXPECT_EQ(verdictOf(flagged({}, 12, {{14, {}}, {16, {}}}), Grown).Result,
            Outcome::Confirmed);
  whyOpen(flagged({}, 12, {{14, {}}}), Grown);
}

TEST(SanitizerRule, VariableOnTheStack) {
  const std::string Returned =
      ofStack("stack-use-after-return", "first(long) helper.h:3 main 40",
              "load() 10", "'numbers' (line 11)");
  const Verdict V = verdictOf(OfScope, Returned);
  EXPECT_EQ(V.Result, Outcome::Confirmed) << V.Sentence;
  EXPECT_EQ(V.Sentence,
            "AddressSanitizer: stack-use-after-return, read of 4 bytes at "
            "helper.h:3, below line 40, of a variable at line 11");
  // Another variable of the same function.
  EXPECT_TRUE(
      contains(whyOpen(OfScope, ofStack("stack-use-after-return", "main 40",
                                        "load() 10", "'others' (line 12)")),
               "of a variable that the finding does not name"));
  EXPECT_TRUE(contains(whyOpen(flagged(FindingKind::BlobOwnerIsDeleted, 12,
                                       {{11, NoteRole::Declared}}),
                               Returned),
                       "about memory on the heap"));
}

TEST(SanitizerRule, TemporaryOnTheStack) {
  const DiagnosedFinding List =
      flagged(FindingKind::DanglingArrayRef, 12, {{14, NoteRole::Read}});
  // With its line, and as GCC's runtime has it.
  EXPECT_EQ(verdictOf(List, ofStack("stack-use-after-scope", "main 14",
                                    "main 8", "'ref.tmp4' (line 12)"))
                .Result,
            Outcome::Confirmed);
  EXPECT_EQ(verdictOf(List, ofStack("stack-use-after-scope", "main 14",
                                    "main 8", "'<unknown>'"))
                .Result,
            Outcome::Confirmed);
  // Used elsewhere, or below the noted line only, it may be any.
  whyOpen(List, ofStack("stack-use-after-scope", "f helper.h:3 main 14",
                        "main 8", "'<unknown>'"));
  whyOpen(List, ofStack("stack-use-after-scope", "main 14", "main 8",
                        "'other' (line 9)"));
}

TEST(SanitizerRule, AMistakeOfAHelperThatTheLineCallsProvesNothing) {
  for (const DiagnosedFinding &Finding : {OfScope, OfTemporary}) {
    const std::string Beyond =
        whyOpen(Finding, heap("heap-buffer-overflow",
                              {"parse(char) other.cpp:7 load() 12 main 39", "",
                               "parse(char) other.cpp:5 load() 12 main 39"}));
    EXPECT_EQ(
        Beyond,
        "AddressSanitizer: heap-buffer-overflow, read of 4 bytes at "
        "other.cpp:7, below line 12, allocated at other.cpp:5, below line "
        "12; no proof of this finding: a mistake with memory that is gone "
        "is reported as use after free, after return or after scope");
    // The same in memory that is gone, of that helper.
    whyOpen(Finding, heap("heap-use-after-free",
                          {"parse other.cpp:7 load() 12 main 39",
                           "parse other.cpp:6 load() 12 main 39",
                           "parse other.cpp:5 load() 12 main 39"}));
    whyOpen(Finding, heap("heap-use-after-free",
                          {"main 14", "parse other.cpp:6 load() 11",
                           "parse other.cpp:5 load() 11"}));
  }
  for (const char *Kind :
       {"double-free", "bad-free", "SEGV", "stack-buffer-overflow",
        "global-buffer-overflow", "alloc-dealloc-mismatch"})
    whyOpen(OfScope, heap(Kind, {"load() 12", "load() 13", "load() 11"}));
}

TEST(SanitizerRule, OtherMemoryOfTheSameFunctionProvesNothing) {
  // Of another vector of load(), which was there before.
  EXPECT_TRUE(contains(
      whyOpen(OfScope, heap("heap-use-after-free",
                            {"load() 12", "load() 13", "load() 9"}) +
                           heap("heap-use-after-free",
                                {"main 40", "load() 13", "load() 12"})),
      "not allocated where its owner is declared"));
  // What its declaration has made as well, and another function frees.
  EXPECT_TRUE(contains(
      whyOpen(OfScope, heap("heap-use-after-free",
                            {"main 40", "reset() 30", "sample 5 load() 11"})),
      "not freed where the scope of its owner ends"));
  EXPECT_TRUE(
      contains(whyOpen(OfScope, heap("heap-use-after-free",
                                     {"load() 12", "load() 11", "load() 11"})),
               "not freed where the scope of its owner ends"))
      << "it is gone before the tensor is made";
  // x = f((a + b).data_ptr<float>()) frees what x was, too.
  EXPECT_TRUE(
      contains(whyOpen(OfTemporary, heap("heap-use-after-free",
                                         {"main 14", "main 12", "main 5"})),
               "not allocated in this statement"));
}

TEST(SanitizerRule, StacksThatAreCutOff) {
  EXPECT_TRUE(contains(
      whyOpen(OfTemporary, heap("heap-use-after-free", {"main 14", "", ""})),
      "fast_unwind_on_malloc=0"));
  EXPECT_TRUE(contains(whyOpen(OfTemporary, heap("heap-use-after-free",
                                                 {"main 14", "main 12", ""})),
                       "fast_unwind_on_malloc=0"));
}

TEST(SanitizerRule, ReportsElsewhere) {
  const std::string Report =
      heap("heap-use-after-free", {"main 60", "main 61", "main 62"});
  EXPECT_TRUE(contains(whyOpen(OfScope, Report),
                       "nothing about this line (and 1 report elsewhere)"));
  const std::string True =
      heap("heap-use-after-free", {"main 40", "load() 13", "load() 11"});
  const Verdict V = verdictOf(OfScope, True + Report + True);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_TRUE(contains(V.Sentence, ", 2 reports")) << V.Sentence;
  EXPECT_EQ(V.Number, 2);
}

TEST(SanitizerRule, OtherRulesNeedTheProbe) {
  Recording Run;
  Run.Capabilities["sanitizer"].IsAvailable = true;
  EXPECT_EQ(judgeOne(finding("exception", 12), Run).Sentence,
            "'call-stacks' was not measured");
}

TEST(SanitizerRule, WithoutAReportNothingIsKnown) {
  MadeRecording Run;
  Run.site("aten::sum", {at(12)}, 40);
  const Verdict V = judgeOne(finding("sanitizer", 12), Run.Run);
  EXPECT_EQ(V.Result, Outcome::NotMeasurable);
  EXPECT_TRUE(contains(V.Sentence, "the line ran, 40 iterations"))
      << V.Sentence;
  EXPECT_TRUE(contains(V.Sentence, "--sanitizer-report")) << V.Sentence;
  // from_blob() is no operation: the line may have run.
  EXPECT_EQ(judgeOne(finding("sanitizer", 50), Run.Run).Result,
            Outcome::NotMeasurable);
  DiagnosedFinding Other = finding("sanitizer", 12);
  Other.Statement.File = "/work/app/other.cpp";
  EXPECT_EQ(judgeOne(Other, Run.Run).Result, Outcome::NotReached);
}

} // namespace
