#include "run/LineCode.h"
#include "recording/Symbolizer.h"
#include "run/Elf.h"
#include "support/Capture.h"
#include "support/Errors.h"
#include "support/Paths.h"
#include <algorithm>
#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;

namespace torchtidy::confirm {
namespace {

/// 43,000 rows take 0.03 s.
constexpr unsigned MostSeconds = 30;
/// A line of a template may have code in many places.
constexpr size_t MostRowsOfLine = 512;
/// Inlined code is looked for at so many addresses; 9,400 take 0.15 s.
constexpr size_t MostAddresses = 400000;

/// One row for each address: that which begins a statement, if one does.
void keepBegin(std::vector<LineRow> &Rows) {
  std::stable_sort(Rows.begin(), Rows.end(),
                   [](const LineRow &A, const LineRow &B) {
                     return A.Address != B.Address ? A.Address < B.Address
                                                   : A.Begins < B.Begins;
                   });
  keepLast(Rows);
}

bool isHeader(const std::string &Name) {
  const std::string Suffix = fs::path(Name).extension().string();
  return Suffix.empty() || Suffix[1] == 'h' || Suffix == ".inl" ||
         Suffix == ".ipp" || Suffix == ".tpp";
}

/// Puts together what the table and the symbolizer say.
class Finder {
public:
  Finder(const LineTable &Table, const WantedLines &Wanted)
      : Table(Table), Wanted(Wanted) {}

  std::vector<LineCode> find(const std::string &Module) {
    // What is inlined of a header may be in any function; of a source, in those
    // that have code of it themselves.
    const bool HasHeader =
        std::any_of(Wanted.begin(), Wanted.end(),
                    [](const auto &Each) { return isHeader(Each.first); });
    const bool IsAll = HasHeader && Table.All.size() <= MostAddresses;
    const std::vector<LineRow> &Rows = IsAll ? Table.All : Table.Own;
    if (Rows.size() > MostAddresses)
      throw UserError("the code of the flagged files is too large: " +
                      std::to_string(Rows.size()) + " rows in the line table");
    AddressesOf What;
    What.Module = Module;
    for (const LineRow &Row : Rows)
      What.Addresses.push_back(Row.Address);
    size_t I = 0;
    symbolizeEach(What, [&](uint64_t Address, const Frames &Lines) {
      while (I < Rows.size() && Rows[I].Address < Address)
        ++I;
      if (I < Rows.size() && Rows[I].Address == Address)
        take(Rows[I], Lines);
    });
    // Where nothing tells the path, the name has to do.
    for (const auto &Each : Nameless)
      if (!hasFile(Each.first))
        Found[Each.first];
    for (const Key &Line : Refused)
      if (!hasFile(Line))
        Found[Line];
    std::vector<LineCode> Result;
    for (auto &[Key, Each] : Found) {
      auto &[Path, Line] = Key;
      const std::string Name = lastPart(Path);
      Each.File = Path;
      Each.Line = Line;
      // A line of one name may belong to several files.
      for (const LineRow &Row : Nameless[{Name, Line}])
        Each.Rows.push_back(Row);
      keepBegin(Each.Rows);
      if (Refused.count({Name, Line}))
        Each.Missing = "the debug information does not say for certain where "
                       "all of its code is";
      else if (HasHeader && !IsAll && isHeader(Name))
        Each.Missing = "the program is too large to look for all code that is "
                       "inlined from headers";
      if (Each.Rows.size() > MostRowsOfLine)
        Each.Missing = "its code is in " + std::to_string(Each.Rows.size()) +
                       " places, too many to watch";
      Each.Rows.resize(std::min(Each.Rows.size(), MostRowsOfLine));
      Result.push_back(std::move(Each));
    }
    return Result;
  }

private:
  using Key = std::pair<std::string, unsigned>;

  bool hasFile(const Key &Line) const {
    return std::any_of(Found.begin(), Found.end(), [&](const auto &Each) {
      return Each.first.second == Line.second &&
             lastPart(Each.first.first) == Line.first;
    });
  }
  bool isWanted(const Key &Line) const {
    auto It = Wanted.find(Line.first);
    return It != Wanted.end() && It->second.count(Line.second);
  }

  /// One row, and what the symbolizer says of it.
  void take(const LineRow &Row, const Frames &Said) {
    auto It = Table.At.find(Row.Address);
    static const LinesAt None;
    const LinesAt &Here = It == Table.At.end() ? None : It->second;
    std::set<Key> Done;
    for (const SourceLine &Frame : Said) {
      const Key Line{lastPart(Frame.File), Frame.Line};
      if (!isWanted(Line))
        continue;
      // Of what is inlined there, the row is that of another line.
      auto Own = Here.find(Line);
      Found[{Frame.File, Frame.Line}].Rows.push_back(
          {Row.Address, Own == Here.end() ? Row.Begins : Own->second});
      Done.insert(Line);
    }
    // Several lines begin there, and the symbolizer tells one.
    const bool IsKnown =
        !Said.empty() &&
        Here.count({lastPart(Said.front().File), Said.front().Line});
    for (const auto &[Line, Begins] : Here)
      if (isWanted(Line) && !Done.count(Line))
        takeOther({Row.Address, Begins}, Line, IsKnown, Said);
  }

  /// A line of the table that is none of the symbolizer's.
  void takeOther(const LineRow &Row, const Key &Line, bool IsKnown,
                 const Frames &Said) {
    if (!IsKnown) {
      Refused.insert(Line);
      return;
    }
    for (const SourceLine &Frame : Said)
      if (lastPart(Frame.File) == Line.first) {
        Found[{Frame.File, Line.second}].Rows.push_back(Row);
        return;
      }
    Nameless[Line].push_back(Row);
  }

  const LineTable &Table;
  const WantedLines &Wanted;
  std::map<Key, LineCode> Found;
  /// Rows of which only the name of the file is known.
  std::map<Key, std::vector<LineRow>> Nameless;
  std::set<Key> Refused;
};

LineTable tableOf(const std::string &Module, const WantedLines &Wanted,
                  const Code &In) {
  const fs::path Objdump = findOnPath("objdump");
  if (Objdump.empty())
    throw UserError("objdump was not found, which tells where the code of "
                    "lines is (Debian: binutils)");
  const auto Elf = readElf(Module);
  const TemporaryFolder Folder;
  CaptureSettings How = limitedTo(MostSeconds);
  How.OutputFile = Folder.path() + "/lines";
  const Captured Done =
      capture({Objdump.string(), "--dwarf=decodedline", "--wide",
               Elf && !Elf->DebugFile.empty() ? Elf->DebugFile : Module},
              How);
  if (Done.TimedOut)
    throw UserError("objdump took more than " + std::to_string(MostSeconds) +
                    " s for the lines of '" + Module + "'");
  if (Done.Code != 0)
    throw UserError("objdump cannot tell the lines of '" + Module +
                    "': " + Done.Errors.substr(0, Done.Errors.find('\n')));
  std::ifstream Text(How.OutputFile);
  return parseLineTable(Text, Wanted, In);
}

} // namespace

std::vector<LineCode> codeOf(const std::string &Module,
                             const WantedLines &Wanted) {
  const Code In(Module);
  const LineTable Table = tableOf(Module, Wanted, In);
  return Finder(Table, Wanted).find(Module);
}

} // namespace torchtidy::confirm
