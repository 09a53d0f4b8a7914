#include "scenarios/Manifest.h"
#include "cli/Errors.h"
#include "scenarios/Measures.h"
#include <algorithm>
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
      R"re(CHECK\("([\w-]+)", \w+, \d, \w+, \d+, "([\w-]+)"\))re");
  std::ifstream Stream = open(Source / "checks" / "Checks.def");
  std::vector<Row> Result;
  std::smatch Match;
  for (std::string Line; std::getline(Stream, Line);)
    if (std::regex_match(Line, Match, Pattern))
      Result.push_back({Match[1], Match[2]});
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

void readWord(const std::string &Word, Claim &C) {
  const size_t Equal = Word.find('=');
  const std::string Key = Word.substr(0, Equal);
  const std::string Value =
      Equal == std::string::npos ? "" : Word.substr(Equal + 1);
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

Claim readClaim(const std::string &Statement) {
  std::istringstream Words(Statement);
  Claim Result;
  if (!(Words >> Result.What.Loop >> Result.What.Measure))
    throw Unreadable{"a loop and a measure are expected"};
  for (std::string Word; Words >> Word;)
    readWord(Word, Result);
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
  static const std::regex Mark(R"(// BAD(:.*)?\s*$)");
  std::ifstream Stream = open(Wrong);
  Manifest Result;
  unsigned Number = 0;
  for (std::string Line; std::getline(Stream, Line);) {
    ++Number;
    if (std::regex_search(Line, Mark))
      Result.Marked.insert(Number);
    if (Line.compare(0, Begin.size(), Begin) != 0)
      continue;
    try {
      Result.Claims.push_back(readClaim(Line.substr(Begin.size())));
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
        return (C.Factor || C.More) &&
               (Measures.front() == AnyMeasure ||
                std::find(Measures.begin(), Measures.end(), C.What.Measure) !=
                    Measures.end());
      });
  if (Asserts)
    return std::nullopt;
  return "wrong.cpp states no factor for its evidence: a line '// MEASURE "
         "<loop> " +
         Measures.front() + " factor=...' is missing";
}

} // namespace torchtidy::confirm::scenarios
