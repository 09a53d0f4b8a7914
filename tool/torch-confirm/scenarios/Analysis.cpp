#include "scenarios/Analysis.h"
#include "support/Capture.h"
#include "support/Errors.h"
#include "support/Files.h"
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace torchtidy::confirm::scenarios {
namespace {

std::vector<std::string> readLines(const fs::path &File) {
  std::istringstream Stream(readFile(File));
  std::vector<std::string> Result;
  for (std::string Line; std::getline(Stream, Line);)
    Result.push_back(Line);
  return Result;
}

/// The findings in a file, from what the analyzer prints.
std::vector<Finding> findingsIn(const std::string &Output,
                                const fs::path &File) {
  static const std::regex Pattern(
      R"re((.*):(\d+):\d+: (?:warning|error): (.*) \[(torch-[\w-]+)\])re");
  std::vector<Finding> Result;
  std::istringstream Stream(Output);
  std::smatch Match;
  for (std::string Line; std::getline(Stream, Line);)
    if (std::regex_match(Line, Match, Pattern) && Match[1] == File.string())
      Result.push_back(
          {static_cast<unsigned>(std::stoul(Match[2])), Match[4], Match[3]});
  return Result;
}

Captured runAnalyzer(const std::vector<std::string> &Command) {
  Captured Result = capture(Command);
  if (!Result.succeeded())
    throw UserError("the analyzer ends with " + std::to_string(Result.Code) +
                    ": " + shown(Command) + "\n" + Result.All);
  return Result;
}

/// A fixed copy holds the mistake no more.
std::string withoutMarks(const std::string &Text) {
  static const std::regex Mark(R"([ \t]*// BAD[^\n]*)");
  static const std::regex Statement(R"((//\n)?(// MEASURE [^\n]*\n)+)");
  return std::regex_replace(std::regex_replace(Text, Mark, ""), Statement, "");
}

Json toJson(const std::vector<Finding> &Findings) {
  Json Result = Json::array();
  for (const Finding &F : Findings)
    Result.push_back(
        {{"line", F.Line}, {"check", F.Check}, {"message", F.Message}});
  return Result;
}

std::string findingsText(const Analysis &A) {
  const Json All = {{"wrong.cpp", toJson(A.Wrong)},
                    {"fixed.cpp", toJson(A.Fixed)}};
  return All.dump(1) + "\n";
}

std::vector<Finding> fromJson(const Json &All, const char *File) {
  std::vector<Finding> Result;
  for (const Json &Each : All.at(File))
    Result.push_back({Each.at("line"), Each.at("check"), Each.at("message")});
  return Result;
}

fs::path findingsFile(const fs::path &Scenario) {
  return Scenario / "made" / "findings.json";
}
fs::path fixitFile(const fs::path &Scenario) {
  return Scenario / "made" / "fixit.cpp";
}

} // namespace

Analyzer::Analyzer(fs::path Program, const fs::path &FlagsFile,
                   std::vector<Row> Registry)
    : Program(std::move(Program)), Flags(readLines(FlagsFile)),
      Registry(std::move(Registry)) {}

std::vector<std::string> Analyzer::command(const std::string &Checks) const {
  // Level 2: what costs little counts as well (the option Minor).
  return {Program.string(), "--quiet", "--level=2", "--checks=-*," + Checks};
}

Analysis Analyzer::analyze(const fs::path &Scenario, const std::string &Check,
                           const fs::path &Work) const {
  const fs::path Wrong = Scenario / "wrong.cpp", Fixed = Scenario / "fixed.cpp";
  // A scenario is silent but for its own mistake. What is off by default may be
  // said of it all the same: a program that prints its loss waits for that.
  std::string All;
  for (const Row &R : Registry)
    if (R.Level < 2 || R.Check == Check)
      All += (All.empty() ? "" : ",") + R.Check;
  std::vector<std::string> Finding = command(All);
  Finding.insert(Finding.end(), {Wrong.string(), Fixed.string(), "--"});
  Finding.insert(Finding.end(), Flags.begin(), Flags.end());
  const Captured Found = runAnalyzer(Finding);

  Analysis Result;
  Result.Wrong = findingsIn(Found.Output, Wrong);
  Result.Fixed = findingsIn(Found.Output, Fixed);

  const fs::path Copy = Work / (Check + ".cpp");
  const std::string Before = readFile(Wrong);
  fs::create_directories(Work);
  writeFile(Copy, Before);
  std::vector<std::string> Fixing = command(Check);
  Fixing.insert(Fixing.end(), {"--fix", Copy.string(), "--"});
  Fixing.insert(Fixing.end(), Flags.begin(), Flags.end());
  runAnalyzer(Fixing);
  if (const std::string After = readFile(Copy); After != Before)
    Result.Fixit = withoutMarks(After);
  return Result;
}

Analysis readCommitted(const fs::path &Scenario) {
  Analysis Result;
  try {
    const Json All = Json::parse(readFile(findingsFile(Scenario)));
    Result.Wrong = fromJson(All, "wrong.cpp");
    Result.Fixed = fromJson(All, "fixed.cpp");
  } catch (const Json::exception &Error) {
    throw UserError(findingsFile(Scenario).string() + ": " + Error.what());
  }
  if (fs::exists(fixitFile(Scenario)))
    Result.Fixit = readFile(fixitFile(Scenario));
  return Result;
}

void writeCommitted(const fs::path &Scenario, const Analysis &A) {
  if (staleParts(Scenario, A).empty())
    return;
  fs::create_directories(findingsFile(Scenario).parent_path());
  writeFile(findingsFile(Scenario), findingsText(A));
  std::cout << "wrote " << findingsFile(Scenario).string() << '\n';
  if (A.Fixit.empty()) {
    fs::remove(fixitFile(Scenario));
    return;
  }
  writeFile(fixitFile(Scenario), A.Fixit);
  std::cout << "wrote " << fixitFile(Scenario).string() << '\n';
}

std::vector<std::string> staleParts(const fs::path &Scenario,
                                    const Analysis &A) {
  const auto Differs = [](const fs::path &File, const std::string &Text) {
    return fs::exists(File) ? readFile(File) != Text : !Text.empty();
  };
  std::vector<std::string> Result;
  if (Differs(findingsFile(Scenario), findingsText(A)))
    Result.emplace_back("made/findings.json");
  if (Differs(fixitFile(Scenario), A.Fixit))
    Result.emplace_back("made/fixit.cpp");
  return Result;
}

std::vector<std::string> unexpected(const Analysis &A, const std::string &Check,
                                    const Manifest &M) {
  std::vector<std::string> Result;
  std::set<unsigned> Found;
  for (const Finding &F : A.Wrong) {
    if (F.Check == Check && M.Marked.count(F.Line))
      Found.insert(F.Line);
    else
      Result.push_back("wrong.cpp:" + std::to_string(F.Line) +
                       " is found and not marked: " + F.Message + " [" +
                       F.Check + "]");
  }
  for (unsigned Line : M.Marked)
    if (!Found.count(Line))
      Result.push_back("wrong.cpp:" + std::to_string(Line) +
                       " is marked and not found");
  for (const Finding &F : A.Fixed)
    Result.push_back("fixed.cpp:" + std::to_string(F.Line) +
                     " is found: " + F.Message + " [" + F.Check + "]");
  if (M.Marked.empty())
    Result.emplace_back("wrong.cpp has no line marked // BAD");
  return Result;
}

} // namespace torchtidy::confirm::scenarios
