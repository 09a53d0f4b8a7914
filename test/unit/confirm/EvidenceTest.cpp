// Statements of scenarios about results, and about exceptions and reports at
// marked lines.
#include "scenarios/Compare.h"
#include "support/Capture.h"
#include "support/Errors.h"
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>

using namespace torchtidy::confirm;
using namespace torchtidy::confirm::scenarios;

namespace {

// Not that of a recording.
using torchtidy::confirm::scenarios::Event;

/// What a wrong.cpp with these lines states.
Manifest read(const std::string &Text) {
  const TemporaryFolder Folder;
  const std::string File = Folder.path() + "/wrong.cpp";
  std::ofstream(File) << Text;
  return readManifest(File);
}

/// Why it cannot be read.
std::string problem(const std::string &Text) {
  try {
    read(Text);
  } catch (const UserError &Error) {
    const std::string What = Error.what();
    return What.substr(What.find("wrong.cpp:") + 10);
  }
  return "";
}

Claim claim(const std::string &Statement, const std::string &Program = "") {
  return read("// MEASURE " + Statement + "\n" + Program).Claims.at(0);
}

const Quantity Mean{"process", "mean"};

Runs runs(double Wrong, double Fixed) {
  Runs Result;
  Result.Wrong.Values.insert_or_assign(Mean, Wrong);
  Result.Fixed.Values.insert_or_assign(Mean, Fixed);
  return Result;
}

Comparison one(const Claim &C, const Runs &R) {
  return compare({C}, "cpu", {{1, R}}).Rows.at(0);
}

bool holds(const std::string &Statement, double Wrong, double Fixed) {
  return one(claim("process mean " + Statement), runs(Wrong, Fixed)).Says ==
         Verdict::Holds;
}

TEST(Value, DiffersByMoreThanRounding) {
  EXPECT_TRUE(holds("differs", 1, 2));
  EXPECT_TRUE(holds("differs", 2, 1));
  EXPECT_FALSE(holds("differs", 1, 1.0001));
  EXPECT_TRUE(holds("differs", NAN, 1));
  EXPECT_FALSE(holds("differs", NAN, NAN));
}

TEST(Value, DiffersByAtLeast) {
  EXPECT_TRUE(holds("differs=0.5", 1, 1.5));
  EXPECT_TRUE(holds("differs=0.5", 1.5, 1));
  EXPECT_FALSE(holds("differs=0.5", 1, 1.4));
  EXPECT_TRUE(holds("differs=0.5", 1, NAN));
}

TEST(Value, IsWhatIsExpected) {
  EXPECT_TRUE(holds("wrong=3 fixed=2", 3.0001, 2));
  EXPECT_FALSE(holds("wrong=3 fixed=2", 3.1, 2));
  EXPECT_FALSE(holds("wrong=3 fixed=2", 3, 2.1));
  EXPECT_TRUE(holds("fixed=0", 5, 0));
  EXPECT_TRUE(holds("wrong=nan", NAN, 0));
  EXPECT_EQ(one(claim("process mean differs=1 wrong=3"), runs(3, 2)).Why,
            "differs by 1 or more, wrong is 3");
}

TEST(Value, HasToBeTheSameInEachRun) {
  Runs R = runs(3, 2);
  R.WrongAgain = R.Wrong.Values;
  R.FixedAgain = R.Fixed.Values;
  const Claim C = claim("process mean differs");
  EXPECT_EQ(one(C, R).Says, Verdict::Holds);
  R.WrongAgain->insert_or_assign(Mean, 3.5);
  EXPECT_EQ(one(C, R).Says, Verdict::Failed);
  EXPECT_EQ(one(C, R).Why,
            "is not the same in each run of wrong.cpp: 3 and 3.5");
}

TEST(Value, TheFixedCopyHasThatOfFixed) {
  Runs R = runs(3, 2);
  R.Fixit.emplace();
  R.Fixit->Values.insert_or_assign(Mean, 3);
  EXPECT_EQ(one(claim("process mean differs"), R).Says, Verdict::Failed);
  EXPECT_EQ(one(claim("process mean differs unfixed"), R).Says, Verdict::Holds);
}

constexpr const char *Program = "int main() {\n"      // 2
                                "  load(); // BAD\n"  // 3
                                "  read(); // READ\n" // 4
                                "}\n";

Event event(const std::string &Type, std::set<unsigned> At,
            const std::string &Message = "") {
  Event Result;
  Result.Measure = Exceptions;
  Result.Type = Type;
  Result.Words = Message;
  Result.Lines[AnyStack] = std::move(At);
  return Result;
}

struct Thrown {
  Comparison row() const { return one(claim(Statement, Program), R); }
  std::string why() const {
    return row().Says == Verdict::Holds ? "holds" : row().Why;
  }

  std::string Statement = "process exceptions at=BAD";
  Runs R;
};

TEST(Exception, AtTheMarkedLine) {
  Thrown T;
  T.R.Wrong.Events = {event("c10::Error", {3})};
  EXPECT_EQ(T.why(), "holds");
  EXPECT_EQ(T.row().Wrong->Value, 1);
  EXPECT_EQ(T.row().Fixed->Value, 0);
  // Below a call in the marked line.
  T.R.Wrong.Events = {event("c10::Error", {3, 40})};
  EXPECT_EQ(T.why(), "holds");
}

TEST(Exception, MissingOrElsewhere) {
  Thrown T;
  EXPECT_EQ(T.why(), "none at wrong.cpp:3");
  T.R.Wrong.Events = {event("c10::Error", {4}, "no leaf")};
  EXPECT_EQ(T.why(),
            "c10::Error (no leaf) at wrong.cpp:4, which is not marked");
  T.R.Wrong.Events = {event("c10::Error", {3}), event("c10::Error", {4})};
  EXPECT_EQ(T.why(), "c10::Error at wrong.cpp:4, which is not marked");
  T.R.Wrong.Events = {event("c10::Error", {})};
  EXPECT_EQ(T.why(), "c10::Error: no line of wrong.cpp is in its stack");
}

TEST(Exception, EachMarkedLineHasOne) {
  Thrown T;
  T.Statement = "process exceptions at=BAD,READ";
  T.R.Wrong.Events = {event("c10::Error", {3})};
  EXPECT_EQ(T.why(), "none at wrong.cpp:4");
  T.R.Wrong.Events.push_back(event("c10::Error", {4}));
  EXPECT_EQ(T.why(), "holds");
}

TEST(Exception, OfTheTypeAndMessage) {
  Thrown T;
  T.Statement = "process exceptions at=BAD type=c10::Error message=\"no leaf\"";
  T.R.Wrong.Events = {event("c10::Error", {3}, "it is no leaf of a tree"),
                      // Not meant.
                      event("std::runtime_error", {4}, "no leaf"),
                      event("c10::Error", {4}, "other")};
  EXPECT_EQ(T.why(), "holds");
  EXPECT_EQ(T.row().What.Measure, "exceptions (c10::Error)");
  T.R.Wrong.Events[0].Words = "other";
  EXPECT_EQ(T.why(), "none at wrong.cpp:3");
}

TEST(Exception, NoneInFixed) {
  Thrown T;
  T.R.Wrong.Events = {event("c10::Error", {3})};
  T.R.Fixed.Events = {event("c10::Error", {9})};
  EXPECT_EQ(T.why(), "fixed.cpp has some too");
  T.R.Fixed.Events.clear();
  T.R.Fixit.emplace();
  EXPECT_EQ(T.why(), "holds");
  T.R.Fixit->Events = {event("c10::Error", {9})};
  EXPECT_EQ(T.why(), "with the analyzer's fixes there still are some");
  T.Statement += " unfixed";
  EXPECT_EQ(T.why(), "holds");
}

Event report(const std::string &Kind, unsigned Use, unsigned Freed) {
  Event Result;
  Result.Measure = SanitizerReports;
  Result.Type = Kind;
  Result.Lines["use"] = {Use};
  Result.Lines["freed"] = {Freed};
  Result.Lines[AnyStack] = {Use, Freed};
  return Result;
}

std::string whyOf(const std::string &Words, const Sanitized &S) {
  const Outcome O =
      compare({claim("process sanitizer-reports " + Words, Program)}, "cpu",
              {{1, Runs()}, {2, Runs()}}, S);
  EXPECT_EQ(O.Rows.size(), 1u) << "it runs at one size";
  const Comparison &Row = O.Rows.at(0);
  return Row.Says == Verdict::Failed ? Row.Why : name(Row.Says);
}

TEST(Sanitizer, FramesAreNamed) {
  Sanitized S;
  S.Is = Sanitized::State::Ran;
  S.What.Wrong.Events = {report("heap-use-after-free", 4, 3)};
  EXPECT_EQ(whyOf("", S), "holds") << "any stack at BAD";
  EXPECT_EQ(whyOf("use=READ freed=BAD", S), "holds");
  EXPECT_EQ(whyOf("use=BAD", S), "heap-use-after-free at wrong.cpp:4, which is "
                                 "not marked (use=)");
  EXPECT_EQ(whyOf("kind=stack-use-after-scope", S), "none at wrong.cpp:3");
  EXPECT_EQ(whyOf("allocated=BAD", S),
            "heap-use-after-free: no line of wrong.cpp is in its stack "
            "(allocated=)");
}

TEST(Sanitizer, FixedHasNoReportOfAnyKind) {
  Sanitized S;
  S.Is = Sanitized::State::Ran;
  S.What.Wrong.Events = {report("heap-use-after-free", 4, 3)};
  S.What.Fixed.Events = {report("heap-buffer-overflow", 9, 9)};
  EXPECT_EQ(whyOf("kind=heap-use-after-free", S), "fixed.cpp has some too");
}

TEST(Sanitizer, WithoutOneThereIsNoZero) {
  Sanitized S;
  S.Is = Sanitized::State::Missing;
  S.Why = "c++ does not link it";
  EXPECT_EQ(whyOf("", S), "c++ does not link it");
  S.Is = Sanitized::State::LeftOut;
  EXPECT_EQ(whyOf("", S), "left out");
  const Outcome O = compare({claim("process sanitizer-reports", Program)},
                            "cpu", {{1, Runs()}}, S);
  EXPECT_FALSE(O.Rows.at(0).Wrong);
  EXPECT_TRUE(O.holds());
  EXPECT_TRUE(compare({claim("process sanitizer-reports", Program)}, "cuda",
                      {{1, Runs()}}, S)
                  .Rows.empty());
}

TEST(Statement, WhatCannotBeSaid) {
  const auto Says = [](const std::string &Words) {
    return problem("// MEASURE " + Words + "\n" + Program);
  };
  EXPECT_EQ(Says("process exceptions at=BAD"), "");
  EXPECT_EQ(Says("process exceptions at=GONE"), "1: no line is marked // GONE");
  EXPECT_EQ(Says("process exceptions at="), "1: 'at=' names no mark");
  EXPECT_EQ(Says("process exceptions use=BAD"), "1: 'use=BAD' is not known");
  EXPECT_EQ(Says("process mean at=BAD"), "1: 'at=BAD' is not known");
  EXPECT_EQ(Says("training exceptions at=BAD"),
            "1: exceptions are counted for the process");
  EXPECT_EQ(Says("process exceptions type=c10::Error more=1"),
            "1: which exceptions is said of those at=MARK");
  EXPECT_EQ(Says("process exceptions at=BAD more=1"),
            "1: where exceptions are and how many cannot be said in one "
            "statement");
  EXPECT_EQ(Says("process exceptions at=BAD message=\"open"),
            "1: a quote is not closed");
  EXPECT_EQ(Says("process exceptions differs"),
            "1: differs, wrong and fixed are said of results of the program, "
            "and 'exceptions' is none");
  EXPECT_EQ(Says("process mean differs=much"), "1: 'much' is no number");
  EXPECT_EQ(Says("process mean wrong=2 fixed=2.0001"),
            "1: wrong= and fixed= are the same");
  EXPECT_EQ(Says("process mean same differs"),
            "1: what is the same does not differ");
  EXPECT_EQ(problem("// MEASURE process sanitizer-reports\n"),
            "1: no line is marked // BAD");
}

TEST(Statement, EvidenceIsAsked) {
  const auto Lacks = [](const std::string &Words, const std::string &Evidence) {
    return lacksEvidence(read("// MEASURE " + Words + "\n" + Program), Evidence)
        .value_or("");
  };
  EXPECT_EQ(Lacks("process exceptions at=BAD", "exception"), "");
  EXPECT_EQ(Lacks("process exceptions more=1", "exception"),
            "wrong.cpp states nothing of its evidence: a line '// MEASURE "
            "process exceptions at=BAD' is missing");
  EXPECT_EQ(Lacks("process sanitizer-reports", "sanitizer"), "");
  EXPECT_EQ(Lacks("process mean differs", "sanitizer"),
            "wrong.cpp states nothing of its evidence: a line '// MEASURE "
            "process sanitizer-reports at=BAD' is missing");
  EXPECT_EQ(Lacks("process mean differs", "value"), "");
  EXPECT_EQ(Lacks("process mean factor=2", "value"), "");
  EXPECT_NE(Lacks("process mean same", "value"), "");
  EXPECT_NE(Lacks("process mean wrong=3", "value"), "");
  EXPECT_NE(Lacks("training peak-bytes factor=2", "value"), "");
  EXPECT_EQ(Lacks("process parameters differs=2", "parameters"), "");
  EXPECT_NE(Lacks("process mean differs=2", "parameters"), "");
}

TEST(Statement, OnlyTheEndOfALineMarksIt) {
  const Manifest M = read("// MEASURE process exceptions at=BAD\n"
                          "throws(); // BAD: torch-some-check\n"
                          "// BAD lines are marked so\n"
                          "fine(); // TODO\n");
  EXPECT_EQ(M.Marked, std::set<unsigned>{2});
}

TEST(Events, LinesOfTheProgramItself) {
  Recording Run;
  Site &S = Run.Sites.emplace_back();
  S.Operation = "aten::mul_";
  S.Stack = {{"/elsewhere/wt/torch-x/wrong.cpp", 12, "step"},
             {"/src/support/measure.cpp", 40, "f"},
             {"/elsewhere/wt/torch-x/wrong.cpp", 30, "main"},
             {"/elsewhere/wt/torch-y/wrong.cpp", 50, "main"}};
  S.Exceptions = 3;
  S.Thrown = {{"c10::Error", "a leaf", 2}};
  const auto All = eventsOf(Run, "/src/scenarios/torch-x/wrong.cpp");
  ASSERT_EQ(All.size(), 2u);
  EXPECT_EQ(All[0].Lines.at(AnyStack), (std::set<unsigned>{12, 30}));
  EXPECT_EQ(All[0].Words, "a leaf");
  EXPECT_EQ(All[0].Count, 2u);
  EXPECT_EQ(All[1].Type, "") << "kinds that had no room";
  EXPECT_EQ(All[1].Count, 1u);
}

} // namespace
