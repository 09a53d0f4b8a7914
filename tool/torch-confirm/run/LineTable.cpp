#include "run/LineTable.h"
#include <algorithm>
#include <optional>

namespace torchtidy::confirm {
namespace {

struct PrintedRow {
  std::string File;
  unsigned Line = 0;
  uint64_t Address = 0;
  bool Begins = false;
  /// Behind the last instruction of a function, or of several.
  bool Ends = false;
};

/// "main.cpp      12      0x11c0    1     x": a number of the view and whether
/// a statement begins may follow. "-" as the line, or "END", ends a sequence.
std::optional<PrintedRow> rowOf(const std::string &Text) {
  const size_t Hex = Text.rfind(" 0x");
  if (Hex == std::string::npos || Text[0] == ' ')
    return std::nullopt;
  const size_t LineEnd = Text.find_last_not_of(' ', Hex);
  const size_t LineBegin = Text.find_last_of(' ', LineEnd);
  if (LineEnd == std::string::npos || LineBegin == std::string::npos)
    return std::nullopt;
  PrintedRow Row;
  const std::string Line = Text.substr(LineBegin + 1, LineEnd - LineBegin);
  if (Line.find_first_not_of("0123456789") == std::string::npos &&
      Line.size() < 9)
    Row.Line = std::stoul(Line);
  else if (Line != "-")
    return std::nullopt;
  const size_t NameEnd = Text.find_last_not_of(' ', LineBegin);
  Row.File = lastPart(Text.substr(0, NameEnd + 1));
  char *Rest = nullptr;
  Row.Address = std::strtoull(Text.c_str() + Hex + 1, &Rest, 16);
  const std::string After = Rest;
  Row.Begins = After.find('x') != std::string::npos;
  Row.Ends = Line == "-" || After.find("END") != std::string::npos;
  return Row;
}

/// The rows of one function, or of several in a row.
class Sequence {
public:
  Sequence(LineTable &Into, const WantedLines &Wanted, const Code &In)
      : Into(Into), Wanted(Wanted), In(In) {}

  void add(PrintedRow Row) {
    if (!Row.Ends) {
      Rows.push_back(std::move(Row));
      return;
    }
    // What was thrown away begins at 0, or at the largest address.
    if (!Rows.empty() && In.holds(Rows.front().Address, Row.Address))
      keep(Row.Address);
    Rows.clear();
  }

private:
  bool isOfFiles(const PrintedRow &Row) const {
    return Wanted.count(Row.File) != 0;
  }
  bool isWanted(const PrintedRow &Row) const {
    auto It = Wanted.find(Row.File);
    return It != Wanted.end() && It->second.count(Row.Line);
  }

  void keep(uint64_t End) {
    const bool IsOwn =
        std::any_of(Rows.begin(), Rows.end(),
                    [&](const PrintedRow &Row) { return isOfFiles(Row); });
    for (size_t I = 0; I < Rows.size(); ++I) {
      if (Rows[I].Address >= End)
        continue;
      // GCC has several rows for a place, the same one with and without.
      if (I && Rows[I - 1].Address == Rows[I].Address &&
          Rows[I - 1].Line == Rows[I].Line && Rows[I - 1].File == Rows[I].File)
        Rows[I].Begins |= Rows[I - 1].Begins;
      Into.All.push_back({Rows[I].Address, Rows[I].Begins});
      if (IsOwn)
        Into.Own.push_back({Rows[I].Address, Rows[I].Begins});
    }
    std::set<uint64_t> Here;
    for (const PrintedRow &Row : Rows)
      if (isWanted(Row) && Row.Address < End)
        Here.insert(Row.Address);
    if (!Here.empty())
      for (const PrintedRow &Row : Rows)
        if (Here.count(Row.Address))
          Into.At[Row.Address][{Row.File, Row.Line}] |= Row.Begins;
  }

  LineTable &Into;
  const WantedLines &Wanted;
  const Code &In;
  std::vector<PrintedRow> Rows;
};

} // namespace

std::string lastPart(const std::string &Path) {
  const size_t Slash = Path.rfind('/');
  return Slash == std::string::npos ? Path : Path.substr(Slash + 1);
}

void keepLast(std::vector<LineRow> &Rows) {
  std::stable_sort(Rows.begin(), Rows.end());
  auto To = Rows.begin();
  for (const LineRow &Row : Rows) {
    if (To != Rows.begin() && std::prev(To)->Address == Row.Address)
      --To;
    *To++ = Row;
  }
  Rows.erase(To, Rows.end());
}

LineTable parseLineTable(std::istream &Text, const WantedLines &Wanted,
                         const Code &In) {
  LineTable Result;
  Sequence Rows(Result, Wanted, In);
  for (std::string Line; std::getline(Text, Line);)
    if (!Line.empty())
      if (auto Row = rowOf(Line))
        Rows.add(*std::move(Row));
  keepLast(Result.Own);
  keepLast(Result.All);
  return Result;
}

} // namespace torchtidy::confirm
