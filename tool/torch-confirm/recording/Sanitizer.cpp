#include "recording/Sanitizer.h"
#include "recording/Symbolizer.h"
#include <filesystem>
#include <regex>
#include <sstream>

namespace torchtidy::confirm {
namespace {

constexpr const char *Head = "ERROR: AddressSanitizer: ";
constexpr const char *Summary = "SUMMARY: AddressSanitizer: ";

/// Printed by test/scenarios/support/memory.cpp: the rest of the stack.
constexpr const char *Operation =
    "in an operation of LibTorch that is called here";

bool has(const std::string &Line, const char *Part) {
  return Line.find(Part) != std::string::npos;
}

/// The word behind Part. "attempting double-free on 0x..." is a double-free.
std::string kindIn(const std::string &Line, const char *Part) {
  std::istringstream Words(
      Line.substr(Line.find(Part) + std::string(Part).size()));
  std::string Kind;
  Words >> Kind;
  if (Kind == "attempting")
    Words >> Kind;
  while (!Kind.empty() && Kind.back() == ':')
    Kind.pop_back();
  return Kind;
}

/// "READ of size 4 at 0x602000000014 thread T0"
std::string accessIn(const std::string &Line) {
  static const std::regex Pattern(R"(^(READ|WRITE) of size (\d+) )");
  std::smatch Match;
  if (!std::regex_search(Line, Match, Pattern))
    return "";
  return std::string(Match[1] == "READ" ? "read of " : "write of ") +
         Match[2].str() + (Match[2] == "1" ? " byte" : " bytes");
}

/// Lines have nine digits at most: more do not fit a number.
///
/// "    #1 0x55d0 in main /work/app/train.cpp:12:3". Nothing where it has no
/// line, or is not the user's.
std::optional<SourceLine> frameIn(const std::string &Line) {
  static const std::regex Pattern(
      R"(^\s*#\d+ 0x[0-9a-f]+ in (.*):(\d{1,9})(?::\d+)?(?: \(discriminator \d+\))?$)");
  // A path with a column has one more number behind it.
  static const std::regex WithColumn(R"((.*):(\d{1,9})$)");
  std::smatch Match;
  if (!std::regex_match(Line, Match, Pattern))
    return std::nullopt;
  std::string Rest = Match[1], Number = Match[2];
  if (std::smatch Column; std::regex_match(Rest, Column, WithColumn)) {
    Number = Column[2];
    Rest = std::string(Column[1]);
  }
  // Functions have spaces in their arguments, and paths may have some.
  size_t Space = Rest.rfind(" /");
  if (Space == std::string::npos)
    Space = Rest.rfind(' ');
  if (Space == std::string::npos)
    return std::nullopt;
  SourceLine Result;
  Result.File =
      std::filesystem::path(Rest.substr(Space + 1)).lexically_normal().string();
  Result.Line = static_cast<unsigned>(std::stoul(Number));
  Result.Function = Rest.substr(0, Space);
  if (Result.Line == 0 || isOfLibraries(Result.File))
    return std::nullopt;
  return Result;
}

/// "    [32, 72) 'numbers' (line 9) <== Memory access at offset 32 ...": the
/// line of the local variable. Nothing of an object without a name or a line.
std::optional<unsigned> lineOfLocalIn(const std::string &Line) {
  static const std::regex Pattern(
      R"(^\s*\[\d+, \d+\) .* \(line (\d{1,9})\) <== Memory access)");
  std::smatch Match;
  if (!std::regex_search(Line, Match, Pattern))
    return std::nullopt;
  return static_cast<unsigned>(std::stoul(Match[1]));
}

/// "... of global variable 'table' defined in '/work/app/train.cpp:3:7' ..."
std::optional<SourceLine> variableIn(const std::string &Line) {
  static const std::regex Pattern(
      R"(global variable '([^']*)' defined in '([^']*?):(\d{1,9})(:\d+)?')");
  std::smatch Match;
  if (!std::regex_search(Line, Match, Pattern))
    return std::nullopt;
  return SourceLine{Match[2], static_cast<unsigned>(std::stoul(Match[3])),
                    Match[1]};
}

} // namespace

std::vector<SanitizerReport> parseSanitizer(const std::string &Text) {
  std::vector<SanitizerReport> Result;
  std::vector<SourceLine> *Stack = nullptr;
  std::istringstream Lines(Text);
  for (std::string Line; std::getline(Lines, Line);) {
    if (has(Line, Head)) {
      Result.emplace_back().Kind = kindIn(Line, Head);
      Stack = &Result.back().Use;
      continue;
    }
    if (Result.empty())
      continue;
    SanitizerReport &Report = Result.back();
    if (has(Line, Summary)) {
      // Its name for what the head says in words.
      Report.Kind = kindIn(Line, Summary);
      Stack = nullptr;
    } else if (has(Line, Operation)) {
      Stack = &Report.Use;
    } else if (has(Line, "freed by thread")) {
      Stack = &Report.Freed;
    } else if (has(Line, "allocated by thread") ||
               has(Line, "is located in stack of thread")) {
      Stack = &Report.Allocated;
    } else if (has(Line, "created by T") || has(Line, "Shadow bytes")) {
      Stack = nullptr;
    } else if (const std::string Access = accessIn(Line); !Access.empty()) {
      Report.Access = Access;
    } else if (const auto Variable = variableIn(Line)) {
      Report.Allocated.push_back(*Variable);
    } else if (const auto Local = lineOfLocalIn(Line);
               Local && !Report.Allocated.empty()) {
      SourceLine Declared = Report.Allocated.front();
      Declared.Line = *Local;
      Report.Allocated.insert(Report.Allocated.begin(), std::move(Declared));
    } else if (Stack) {
      if (const auto Frame = frameIn(Line))
        Stack->push_back(*Frame);
    }
  }
  return Result;
}

} // namespace torchtidy::confirm
