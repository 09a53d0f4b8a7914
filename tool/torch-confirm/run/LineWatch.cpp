#include "run/LineWatch.h"
#include "run/Elf.h"
#include "run/LineMarks.h"
#include "support/Errors.h"
#include "support/Files.h"
#include <algorithm>
#include <cstring>
#include <filesystem>

namespace fs = std::filesystem;

namespace torchtidy::confirm {
namespace {

using trace::LinesProblem;

/// A range that is longer is no statement.
constexpr unsigned MostLinesOfStatement = 400;

/// Where an instruction begins that may be replaced: behind the mark of a
/// target of indirect jumps, which the processor may want to see there.
uint64_t behindMark(uint64_t Address, const Code &In) {
  static constexpr std::string_view Mark("\xf3\x0f\x1e\xfa", 4);
  return In.at(Address, Mark.size()) == Mark ? Address + Mark.size() : Address;
}

bool isSameFile(const std::string &A, const std::string &B) {
  std::error_code Ignored;
  return A == B || fs::equivalent(A, B, Ignored);
}

} // namespace

WantedLines wantedLines(const std::vector<DiagnosedFinding> &Findings) {
  WantedLines Result;
  for (const DiagnosedFinding &Finding : Findings) {
    const LineRange &Range = Finding.Statement;
    if (!Range.isKnown())
      continue;
    const unsigned Last = std::min(std::max(Range.First, Range.Last),
                                   Range.First + MostLinesOfStatement);
    for (unsigned Line = Range.First; Line <= Last; ++Line)
      Result[fs::path(Range.File).filename().string()].insert(Line);
  }
  return Result;
}

LineWatch::LineWatch(const std::vector<std::string> &All, WantedLines Lines,
                     std::string Path)
    : Wanted(std::move(Lines)), File(std::move(Path)) {
  std::vector<std::vector<LineCode>> Code;
  try {
    for (const std::string &Module : All) {
      const auto Elf = readElf(Module);
      const bool MayHave =
          Elf && Elf->HasLines &&
          std::any_of(Wanted.begin(), Wanted.end(), [&](const auto &Each) {
            return mayHoldSource(*Elf, Each.first);
          });
      Modules.push_back(Module);
      Code.push_back(MayHave ? codeOf(Module, Wanted)
                             : std::vector<LineCode>());
    }
    // The program, then those with lines.
    std::vector<size_t> Order;
    for (size_t I = 0; I < Modules.size(); ++I)
      if (I == 0 || !Code[I].empty())
        Order.push_back(I);
    if (Order.size() > trace::MaxLineModules)
      throw UserError("flagged lines have code in more than " +
                      std::to_string(trace::MaxLineModules) + " libraries");
    for (size_t I = 1; I < Modules.size(); ++I)
      if (Code[I].empty() && Order.size() < trace::MaxLineModules)
        Order.push_back(I);
    write(Order, Code);
    IsWritten = true;
  } catch (const UserError &Error) {
    Problem = Error.what();
  }
}

void LineWatch::write(const std::vector<size_t> &Order,
                      const std::vector<std::vector<LineCode>> &Code) {
  struct Planned {
    uint64_t Address;
    std::string Bytes;
  };
  std::vector<Planned> Addresses;
  std::vector<std::pair<size_t, size_t>> Ranges;
  for (size_t Number = 0; Number < Order.size(); ++Number) {
    const class Code In(Modules[Order[Number]]);
    std::map<uint64_t, size_t> Known;
    for (const LineCode &Each : Code[Order[Number]])
      for (const LineRow &Row : Each.Rows)
        Known[behindMark(Row.Address, In)];
    const size_t First = Addresses.size();
    for (auto &[Address, Index] : Known) {
      Index = Addresses.size();
      Addresses.push_back(
          {Address, std::string(In.at(Address, trace::MaxCodeBytes))});
    }
    Ranges.emplace_back(First, Addresses.size() - First);
    for (const LineCode &Each : Code[Order[Number]]) {
      Watched &Line = Lines.emplace_back();
      Line.Module = Number;
      Line.Line.File = Each.File;
      Line.Line.Line = Each.Line;
      Line.Missing = Each.Missing;
      for (const LineRow &Row : Each.Rows)
        Line.Places.push_back({Known[behindMark(Row.Address, In)], Row.Begins});
    }
  }
  if (Addresses.size() > trace::MaxLineAddresses)
    throw UserError("the flagged lines have code in " +
                    std::to_string(Addresses.size()) + " places; " +
                    std::to_string(trace::MaxLineAddresses) +
                    " at most are watched");

  std::string Bytes(trace::linesFileSize(uint32_t(Addresses.size())), '\0');
  auto *Header = reinterpret_cast<trace::LinesHeader *>(Bytes.data());
  std::memcpy(Header->Magic, trace::LinesMagic, sizeof(trace::LinesMagic));
  Header->Version = trace::LinesVersion;
  Header->ModuleCount = uint32_t(Order.size());
  Header->AddressCount = uint32_t(Addresses.size());
  for (size_t I = 0; I < Order.size(); ++I) {
    auto &To = reinterpret_cast<trace::LinesModule *>(Bytes.data() +
                                                      trace::LinesModulesAt)[I];
    struct stat Status = {};
    stat(Modules[Order[I]].c_str(), &Status);
    To.Device = Status.st_dev;
    To.Inode = Status.st_ino;
    To.Size = uint64_t(Status.st_size);
    const class Code In(Modules[Order[I]]);
    To.BuildIdSize =
        uint32_t(std::min(In.buildId().size(), sizeof(To.BuildId)));
    std::memcpy(To.BuildId, In.buildId().data(), To.BuildIdSize);
    To.First = uint32_t(Ranges[I].first);
    To.Count = uint32_t(Ranges[I].second);
  }
  for (size_t I = 0; I < Addresses.size(); ++I) {
    auto &To = reinterpret_cast<trace::LinesAddress *>(
        Bytes.data() + trace::LinesAddressesAt)[I];
    To.Address = Addresses[I].Address;
    To.CodeSize = uint32_t(Addresses[I].Bytes.size());
    std::memcpy(To.Code, Addresses[I].Bytes.data(), To.CodeSize);
  }
  writeFile(File, Bytes);
}

std::vector<std::pair<std::string, std::string>>
LineWatch::environment() const {
  if (!IsWritten)
    return {};
  return {{trace::LinesVariable, File}};
}

LineHits LineWatch::hitsOf(const Watched &What, const LineMarks &Seen) const {
  LineHits Result = What.Line;
  Result.Places = What.Places.size();
  bool HasMoved = false, IsLost = false, IsPlanted = true;
  for (const Place &Each : What.Places) {
    const uint32_t State = Seen.state(Each.Address);
    if ((State & trace::LineIsHit) && Each.Begins) {
      Result.State = LineState::Ran;
      return Result;
    }
    HasMoved |= (State & trace::LineIsHit) != 0;
    IsLost |= (State & trace::LineIsLost) != 0;
    IsPlanted &= (State & trace::LineIsPlanted) != 0;
  }
  if (HasMoved)
    Result.State = LineState::MayHaveRun;
  else if (!What.Missing.empty())
    Result.Reason = What.Missing;
  else if (const std::string Why = Seen.whyNotAll(); !Why.empty())
    Result.Reason = Why;
  else if (IsLost)
    Result.Reason = Seen.number(LinesProblem::Taken)
                        ? textOf(LinesProblem::Taken)
                        : "its code is not what the file has";
  else if (!Seen.wasLoaded(What.Module)) {
    Result.State = LineState::DidNotRun;
    Result.Reason = "what holds it was not loaded";
  } else if (!IsPlanted)
    Result.Reason = "its code was not watched";
  else
    Result.State = LineState::DidNotRun;
  return Result;
}

/// Lines in libraries that nobody knew before they were opened.
void LineWatch::addOthers(const LineMarks &Seen,
                          std::vector<LineHits> &Result) const {
  const uint32_t Count = Seen.header()->OtherCount.load();
  auto Doubt = [&](const std::string &OfFile, unsigned OfLine,
                   const std::string &Why) {
    for (LineHits &Each : Result)
      if (Each.State == LineState::DidNotRun &&
          (OfFile.empty() || (Each.File == OfFile && Each.Line == OfLine))) {
        Each.State = LineState::Unknown;
        Each.Reason = Why;
      }
  };
  if (Count > trace::MaxOtherModules)
    Doubt("", 0, "the program opened too many libraries");
  for (uint32_t I = 0; I < std::min(Count, trace::MaxOtherModules); ++I) {
    const char *Text = Seen.header()->Others[I];
    const std::string Path(Text,
                           strnlen(Text, sizeof(Seen.header()->Others[I])));
    if (std::any_of(
            Modules.begin(), Modules.end(),
            [&](const std::string &Each) { return isSameFile(Each, Path); }))
      continue;
    const std::string Why =
        "it is in '" + Path + "', which is not known before the program runs";
    try {
      for (const LineCode &Each : codeOf(Path, Wanted)) {
        Doubt(Each.File, Each.Line, Why);
        LineHits Line;
        Line.File = Each.File;
        Line.Line = Each.Line;
        Line.Reason = Why;
        Result.push_back(std::move(Line));
      }
    } catch (const UserError &) {
      Doubt("", 0, "it may be in '" + Path + "', too, which cannot be read");
    }
  }
}

void LineWatch::addTo(Recording &Run) const {
  Capability &Known = Run.Capabilities["line-hits"];
  const LineMarks Seen(File);
  if (!IsWritten || !Seen.header()) {
    Known.Reason = Problem.empty() ? "the file of lines is gone" : Problem;
    return;
  }
  Known.Reason = Seen.whyNone();
  Known.IsAvailable = Known.Reason.empty();
  if (!Known.IsAvailable)
    return;
  for (const Watched &Each : Lines)
    Run.Lines.push_back(hitsOf(Each, Seen));
  addOthers(Seen, Run.Lines);
}

} // namespace torchtidy::confirm
