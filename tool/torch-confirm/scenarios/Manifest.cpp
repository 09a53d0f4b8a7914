#include "scenarios/Manifest.h"
#include "scenarios/Events.h"
#include "scenarios/Measures.h"
#include "support/Errors.h"
#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

namespace fs = std::filesystem;

namespace torchtidy::confirm::scenarios {

static std::ifstream open(const fs::path &File) {
  std::ifstream Stream(File);
  if (!Stream)
    throw UserError("cannot read " + File.string());
  return Stream;
}

std::vector<Row> readRegistry(const fs::path &Source) {
  static const std::regex Pattern(
      R"re(CHECK\("([\w-]+)", \w+, (\d), \w+, \d+, "([\w-]+)"\))re");
  std::ifstream Stream = open(Source / "checks" / "Checks.def");
  std::vector<Row> Result;
  std::smatch Match;
  for (std::string Line; std::getline(Stream, Line);)
    if (std::regex_match(Line, Match, Pattern))
      Result.push_back(
          {Match[1], Match[3], unsigned(std::stoul(Match[2].str()))});
  return Result;
}

namespace {

struct Unreadable {
  std::string Why;
};

double toNumber(const std::string &Text) {
  size_t End = 0;
  double Result = 0;
  try {
    Result = std::stod(Text, &End);
  } catch (const std::exception &) {
  }
  if (Text.empty() || End != Text.size())
    throw Unreadable{"'" + Text + "' is no number"};
  return Result;
}

/// Marks of lines and where they are.
using Marks = std::map<std::string, std::set<unsigned>>;

/// "BAD,READ"
std::vector<std::string> namesIn(const std::string &Names) {
  std::vector<std::string> Result;
  std::istringstream List(Names);
  for (std::string Name; std::getline(List, Name, ',');)
    Result.push_back(Name);
  return Result;
}

/// "BAD,READ": lines with any of these marks, of which each is there.
Attribution toAttribution(const std::string &Stack, const std::string &Names,
                          const Marks &All) {
  Attribution Result;
  Result.Stack = Stack;
  for (const std::string &Name : namesIn(Names)) {
    const auto It = All.find(Name);
    if (It == All.end())
      throw Unreadable{"no line is marked // " + Name};
    Result.Lines.insert(It->second.begin(), It->second.end());
  }
  if (Result.Lines.empty())
    throw Unreadable{"'" + Stack + "=' names no mark"};
  return Result;
}

/// Words of exceptions and reports of the sanitizer.
bool readEventWord(const std::string &Key, const std::string &Value,
                   const Marks &All, Claim &C) {
  const bool IsReport = C.What.Measure == SanitizerReports;
  if (!isEvent(C.What.Measure))
    return false;
  if (Key == AnyStack ||
      (IsReport && (Key == "use" || Key == "freed" || Key == "allocated")))
    C.At.push_back(toAttribution(Key, Value, All));
  else if (Key == (IsReport ? "kind" : "type"))
    C.Type = Value;
  else if (Key == "message" && !IsReport)
    C.Words = Value;
  else
    return false;
  return true;
}

void readWord(const std::string &Word, const Marks &All, Claim &C) {
  const size_t Equal = Word.find('=');
  const std::string Key = Word.substr(0, Equal);
  const std::string Value =
      Equal == std::string::npos ? "" : Word.substr(Equal + 1);
  if (readEventWord(Key, Value, All, C))
    return;
  static const std::map<std::string, int> Powers = {
      {"constant", 0}, {"linear", 1}, {"quadratic", 2}};
  if (Key == "factor") {
    C.Factor = toNumber(Value);
  } else if (Key == "more") {
    C.More = toNumber(Value);
  } else if (Key == "grows") {
    const auto It = Powers.find(Value);
    if (It == Powers.end())
      throw Unreadable{"'" + Value + "' is not constant, linear or quadratic"};
    C.Growth = It->second;
  } else if (Key == "differs") {
    C.Differs = Equal == std::string::npos ? 0 : toNumber(Value);
  } else if (Key == "wrong") {
    C.WrongIs = toNumber(Value);
  } else if (Key == "fixed") {
    C.FixedIs = toNumber(Value);
  } else if (Key == "device" && (Value == "cpu" || Value == "cuda")) {
    C.Device = Value;
  } else if (Word == "same") {
    C.Same = true;
  } else if (Word == "unfixed") {
    C.IsFixed = false;
  } else if (Word != "report") {
    throw Unreadable{"'" + Word + "' is not known"};
  }
}

/// Words by spaces; quotes hold spaces together.
std::vector<std::string> wordsOf(const std::string &Statement) {
  std::vector<std::string> Result;
  bool IsQuoted = false, IsOpen = false;
  for (char C : Statement) {
    if (C == '"') {
      IsQuoted = !IsQuoted;
    } else if (!IsQuoted && std::isspace(static_cast<unsigned char>(C))) {
      IsOpen = false;
      continue;
    }
    if (!IsOpen)
      Result.emplace_back();
    IsOpen = true;
    if (C != '"')
      Result.back() += C;
  }
  if (IsQuoted)
    throw Unreadable{"a quote is not closed"};
  return Result;
}

/// What can only be said of some measures.
void requireSense(const Claim &C) {
  const std::string &Measure = C.What.Measure;
  const bool IsEvent = isEvent(Measure);
  if (IsEvent && C.What.Loop != "process")
    throw Unreadable{Measure + " are counted for the process"};
  if ((!C.Type.empty() || !C.Words.empty()) && C.At.empty())
    throw Unreadable{"which exceptions is said of those at=MARK"};
  if (!C.At.empty() &&
      (C.Same || C.Factor || C.More || C.Growth || C.isOfValue()))
    throw Unreadable{"where " + Measure +
                     " are and how many cannot be said "
                     "in one statement"};
  if (C.isOfValue() && !isResult(Measure))
    throw Unreadable{"differs, wrong and fixed are said of results of the "
                     "program, and '" +
                     Measure + "' is none"};
  if (C.WrongIs && C.FixedIs && isNear(*C.WrongIs, *C.FixedIs))
    throw Unreadable{"wrong= and fixed= are the same"};
  if (C.Same && C.isOfValue())
    throw Unreadable{"what is the same does not differ"};
}

Claim readClaim(const std::string &Statement, const Marks &All) {
  const std::vector<std::string> Words = wordsOf(Statement);
  Claim Result;
  if (Words.size() < 2)
    throw Unreadable{"a loop and a measure are expected"};
  Result.What = {Words[0], Words[1]};
  for (size_t I = 2; I < Words.size(); ++I)
    readWord(Words[I], All, Result);
  // There is nothing else to say of a report than where it is, and a device
  // has no sanitizer.
  if (Result.What.Measure == SanitizerReports) {
    if (Result.At.empty())
      Result.At.push_back(toAttribution(AnyStack, "BAD", All));
    Result.Device = "cpu";
  }
  requireSense(Result);
  if (Result.What.Loop != "process" && !isLoopMeasure(Result.What.Measure))
    throw Unreadable{"there is no measure '" + Result.What.Measure +
                     "' of loops"};
  if (Result.isAsserted() && isTime(Result.What.Measure))
    throw Unreadable{"times are reported, never asserted"};
  return Result;
}

} // namespace

Manifest readManifest(const fs::path &Wrong) {
  static const std::string Begin = "// MEASURE ";
  static const std::regex Mark(
      R"(// ([A-Z][A-Z0-9-]*(,[A-Z][A-Z0-9-]*)*)(:.*)?\s*$)");
  std::ifstream Stream = open(Wrong);
  Manifest Result;
  Marks All;
  // Statements come first and name marks that come later.
  std::vector<std::pair<unsigned, std::string>> Statements;
  unsigned Count = 0;
  std::smatch Match;
  for (std::string Line; std::getline(Stream, Line);) {
    ++Count;
    if (Line.compare(0, Begin.size(), Begin) == 0)
      Statements.emplace_back(Count, Line.substr(Begin.size()));
    else if (std::regex_search(Line, Match, Mark))
      for (const std::string &Name : namesIn(Match[1]))
        All[Name].insert(Count);
  }
  Result.Marked = All["BAD"];
  if (Result.Marked.empty())
    All.erase("BAD");
  for (const auto &[Number, Statement] : Statements) {
    try {
      Result.Claims.push_back(readClaim(Statement, All));
    } catch (const Unreadable &Problem) {
      throw UserError(Wrong.string() + ":" + std::to_string(Number) + ": " +
                      Problem.Why);
    }
  }
  return Result;
}

std::optional<std::string> lacksEvidence(const Manifest &M,
                                         const std::string &Evidence) {
  const std::vector<std::string> Measures = measuresOf(Evidence);
  if (Measures.empty())
    return "no measure is known for the evidence '" + Evidence + "'";
  const bool Asserts =
      std::any_of(M.Claims.begin(), M.Claims.end(), [&](const Claim &C) {
        const std::string &Measure = C.What.Measure;
        // How many exceptions there are does not say that the marked line
        // throws them.
        if (!C.isEvidence() || (isEvent(Measure) && C.At.empty()))
          return false;
        return Measures.front() == AnyMeasure
                   ? isResult(Measure)
                   : std::find(Measures.begin(), Measures.end(), Measure) !=
                         Measures.end();
      });
  if (Asserts)
    return std::nullopt;
  if (isEvent(Measures.front()))
    return "wrong.cpp states nothing of its evidence: a line '// MEASURE "
           "process " +
           Measures.front() + " at=BAD' is missing";
  if (isResult(Measures.front()))
    return "wrong.cpp states nothing of its evidence: a line '// MEASURE "
           "process " +
           Measures.front() + " differs' is missing";
  return "wrong.cpp states no factor for its evidence: a line '// MEASURE "
         "<loop> " +
         Measures.front() + " factor=...' is missing";
}

} // namespace torchtidy::confirm::scenarios
