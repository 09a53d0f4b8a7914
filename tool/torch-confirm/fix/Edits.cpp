#include "fix/Edits.h"
#include "support/Errors.h"
#include <algorithm>
#include <cctype>

namespace torchtidy::confirm::fix {
namespace {

/// Shorter text may be the same by chance.
constexpr size_t ShortestMoved = 8;

[[noreturn]] void refuse(const std::string &File) {
  throw UserError("the findings are of another version of '" + File +
                  "': a fix lies beyond its text; make them anew");
}

size_t startOf(const std::string &Text, unsigned Line,
               const std::string &File) {
  size_t At = 0;
  for (unsigned I = 1; I < Line; ++I) {
    At = Text.find('\n', At);
    if (At == std::string::npos)
      refuse(File);
    ++At;
  }
  return At;
}

size_t endOf(const std::string &Text, size_t At) {
  return std::min(Text.find('\n', At), Text.size());
}

/// A column counts code points; 0 is the end of the line.
size_t offset(const std::string &Text, unsigned Line, unsigned Column,
              const std::string &File) {
  size_t At = startOf(Text, Line, File);
  if (!Column)
    return endOf(Text, At);
  for (unsigned I = 1; I < Column; ++I) {
    if (At >= Text.size() || Text[At] == '\n')
      refuse(File);
    ++At;
    while (At < Text.size() && (Text[At] & 0xC0) == 0x80)
      ++At;
  }
  return At;
}

unsigned lineOf(const std::string &Text, size_t At) {
  const auto End = Text.begin() + long(std::min(At, Text.size()));
  return unsigned(std::count(Text.begin(), End, '\n')) + 1;
}

/// Those of one file, by place.
Edits sorted(const std::string &File, const Edits &All) {
  Edits Result;
  for (const Edit &Each : All)
    if (Each.File == File &&
        std::find(Result.begin(), Result.end(), Each) == Result.end())
      Result.push_back(Each);
  std::stable_sort(Result.begin(), Result.end(),
                   [](const Edit &A, const Edit &B) {
                     return std::tie(A.Begin, A.End) < std::tie(B.Begin, B.End);
                   });
  return Result;
}

std::string withoutBlanks(const std::string &Text) {
  std::string Result;
  for (const char C : Text)
    if (!std::isspace(static_cast<unsigned char>(C)))
      Result += C;
  return Result;
}

/// Where a place of the old text is in the new one. What is put in at it is
/// before it.
size_t place(size_t At, const Edits &Sorted) {
  size_t Result = At;
  for (const Edit &Each : Sorted) {
    if (Each.Begin > At)
      break;
    if (Each.End <= At)
      Result = Result + Each.Text.size() - (Each.End - Each.Begin);
    else
      Result -= At - Each.Begin;
  }
  return Result;
}

/// The lines that an edit has put in.
LineRange linesOf(const Edit &Which, const Edits &Sorted,
                  const std::string &After) {
  size_t Begin = Which.Begin;
  for (const Edit &Each : Sorted) {
    if (Each == Which)
      break;
    Begin = Begin + Each.Text.size() - (Each.End - Each.Begin);
  }
  const size_t First = Which.Text.find_first_not_of(" \t\r\n");
  const size_t Last = Which.Text.find_last_not_of(" \t\r\n");
  return {Which.File, lineOf(After, Begin + First),
          lineOf(After, Begin + Last)};
}

} // namespace

Edits resolve(const DiagnosedFinding &Finding, const Texts &Files) {
  Edits Result;
  for (const FindingEdit &Each : Finding.Fix) {
    const std::string &Text = Files.at(Each.File);
    Edit New{Each.File, offset(Text, Each.Line, Each.Column, Each.File),
             offset(Text, Each.EndLine, Each.EndColumn, Each.File), Each.Text};
    if (New.End < New.Begin)
      refuse(Each.File);
    Result.push_back(std::move(New));
  }
  return Result;
}

bool overlap(const Edit &A, const Edit &B) {
  return A.File == B.File && A.Begin < B.End && B.Begin < A.End && !(A == B);
}

std::string apply(const std::string &Text, const std::string &File,
                  const Edits &All) {
  std::string Result;
  size_t At = 0;
  for (const Edit &Each : sorted(File, All)) {
    Result += Text.substr(At, Each.Begin - At) + Each.Text;
    At = Each.End;
  }
  return Result + Text.substr(At);
}

std::optional<LineRange> moved(const LineRange &Lines, const std::string &Text,
                               const Edits &All, const Edits &Own) {
  const Edits Sorted = sorted(Lines.File, All);
  const std::string After = apply(Text, Lines.File, All);
  const size_t Start = startOf(Text, Lines.First, Lines.File);
  const size_t End =
      endOf(Text, startOf(Text, std::max(Lines.First, Lines.Last), Lines.File));
  const auto IsMade = [&](const Edit &Each) {
    return std::find(Sorted.begin(), Sorted.end(), Each) != Sorted.end();
  };
  for (const Edit &Out : Own) {
    const std::string Taken =
        IsMade(Out) ? withoutBlanks(Text.substr(Out.Begin, Out.End - Out.Begin))
                    : "";
    if (Taken.size() < ShortestMoved || Out.End <= Start || Out.Begin >= End)
      continue;
    for (const Edit &In : Own)
      if (!(In == Out) && IsMade(In) &&
          withoutBlanks(In.Text).find(Taken) != std::string::npos)
        return linesOf(In, Sorted, After);
  }
  // From the first character that is left to the last one.
  const auto IsLeft = [&](size_t At) {
    return !std::isspace(static_cast<unsigned char>(Text[At])) &&
           std::none_of(Sorted.begin(), Sorted.end(), [&](const Edit &Each) {
             return Each.Begin <= At && At < Each.End && Each.Text.empty();
           });
  };
  std::optional<size_t> First, Last;
  for (size_t At = Start; At < End; ++At)
    if (IsLeft(At)) {
      First = First.value_or(At);
      Last = At;
    }
  if (!First)
    return std::nullopt;
  return LineRange{Lines.File, lineOf(After, place(*First, Sorted)),
                   lineOf(After, place(*Last, Sorted))};
}

} // namespace torchtidy::confirm::fix
