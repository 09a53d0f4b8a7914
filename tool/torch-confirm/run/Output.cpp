#include "run/Output.h"
#include "support/Errors.h"
#include <algorithm>
#include <fstream>
#include <functional>

namespace torchtidy::confirm {
namespace {

constexpr size_t MostLines = 5;
constexpr size_t LongestLine = 100;

std::ifstream opened(const std::string &Path) {
  std::ifstream Result(Path, std::ios::binary);
  if (!Result)
    throw UserError("cannot read '" + Path + "'");
  return Result;
}

/// The next line with its end, so that a missing one at the end of a file is a
/// difference; empty at the end.
std::string next(std::ifstream &From) {
  std::string Result;
  if (std::getline(From, Result) && !From.eof())
    Result += '\n';
  return Result;
}

std::string shortened(std::string Line) {
  if (!Line.empty() && Line.back() == '\n')
    Line.pop_back();
  if (Line.size() > LongestLine)
    Line = Line.substr(0, LongestLine) + "...";
  for (char &C : Line)
    if (static_cast<unsigned char>(C) < ' ')
      C = ' ';
  return Line;
}

/// Line by line, so that a gigabyte of output takes no memory.
void forEachLine(const std::string &Before, const std::string &After,
                 const std::function<void(size_t, const std::string &,
                                          const std::string &)> &See) {
  std::ifstream Old = opened(Before), New = opened(After);
  for (size_t Number = 1;; ++Number) {
    const std::string A = next(Old), B = next(New);
    if (A.empty() && B.empty())
      return;
    See(Number, A, B);
  }
}

} // namespace

IgnoredLines::IgnoredLines(const std::string &Option,
                           const std::string &Expression) {
  if (Expression.empty())
    return;
  try {
    Which.emplace(Expression);
  } catch (const std::regex_error &Error) {
    throw UserError(Option + ": '" + Expression +
                    "' is no regular expression: " + Error.what());
  }
}

bool IgnoredLines::has(const std::string &Line) const {
  constexpr size_t Most = 1000;
  if (!Which)
    return false;
  // Without its end, so that '$' means what it says.
  const size_t Size =
      Line.size() - (!Line.empty() && Line.back() == '\n' ? 1 : 0);
  return std::regex_search(Line.begin(),
                           Line.begin() + long(std::min(Size, Most)), *Which);
}

OutputDifference compareOutputs(const std::string &Before,
                                const std::string &After,
                                const IgnoredLines &Ignored,
                                const std::set<size_t> &Skip) {
  OutputDifference Result;
  forEachLine(Before, After,
              [&](size_t Number, const std::string &A, const std::string &B) {
                Result.LinesBefore += !A.empty();
                Result.LinesAfter += !B.empty();
                const bool IsIgnored = Ignored.has(A) && Ignored.has(B);
                Result.Ignored += IsIgnored;
                if (A == B || IsIgnored || Skip.count(Number))
                  return;
                ++Result.Count;
                if (Result.First.size() < MostLines)
                  Result.First.push_back({Number, shortened(A), shortened(B)});
              });
  return Result;
}

std::set<size_t> differentLines(const std::string &Before,
                                const std::string &After,
                                const IgnoredLines &Ignored) {
  std::set<size_t> Result;
  forEachLine(Before, After,
              [&](size_t Number, const std::string &A, const std::string &B) {
                if (A != B && !(Ignored.has(A) && Ignored.has(B)))
                  Result.insert(Number);
              });
  return Result;
}

std::string lineNumbers(const OutputDifference &What) {
  std::string Result;
  const size_t Others = What.Count - What.First.size();
  for (size_t I = 0; I < What.First.size(); ++I) {
    if (I)
      Result += I + 1 == What.First.size() && !Others ? " and " : ", ";
    Result += std::to_string(What.First[I].Number);
  }
  if (Others)
    Result += " and " + std::to_string(Others) + " others";
  return Result;
}

} // namespace torchtidy::confirm
