// The file that clang-tidy's --export-fixes writes. It has offsets; lines are
// counted in the sources.
#include "findings/Read.h"
#include "support/Errors.h"
#include "support/Files.h"
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#ifdef TORCH_CONFIRM_HAS_YAML
#include <yaml-cpp/yaml.h>

namespace fs = std::filesystem;

namespace torchtidy::confirm {
namespace {

class Sources {
public:
  struct Place {
    unsigned Line = 0, Column = 0;
  };

  /// No line where the source cannot be read or is shorter by now.
  Place at(const std::string &File, size_t Offset) {
    const std::string *Text = text(File);
    if (!Text || Offset > Text->size())
      return {};
    const auto Until = Text->begin() + Offset;
    const size_t Start = Text->rfind('\n', Offset ? Offset - 1 : 0);
    const bool IsFirst = Offset == 0 || Start == std::string::npos;
    return {unsigned(1 + std::count(Text->begin(), Until, '\n')),
            unsigned(IsFirst ? Offset + 1 : Offset - Start)};
  }

private:
  const std::string *text(const std::string &File) {
    auto [It, IsNew] = Known.try_emplace(File);
    if (IsNew) {
      try {
        It->second = readFile(File);
      } catch (const UserError &) {
        // Told once, for the whole file.
      }
    }
    return It->second ? &*It->second : nullptr;
  }

  std::map<std::string, std::optional<std::string>> Known;
};

class Diagnostics {
public:
  explicit Diagnostics(FindingsFile &Result) : Result(Result) {}

  void add(const YAML::Node &Node) {
    const YAML::Node Message = Node["DiagnosticMessage"];
    if (!Message || !Node["DiagnosticName"])
      return;
    DiagnosedFinding Finding;
    Finding.Check = Node["DiagnosticName"].as<std::string>();
    Finding.Message = Message["Message"].as<std::string>("");
    Folder = Node["BuildDirectory"].as<std::string>("");
    Finding.Statement = place(Message, Finding.Column);
    Finding.Line = Finding.Statement.First;
    for (const YAML::Node &Range : Message["Ranges"])
      widen(Finding.Statement, Range);
    for (const YAML::Node &Note : Node["Notes"]) {
      unsigned Column = 0;
      LineRange At = place(Note, Column);
      if (!At.isKnown())
        continue;
      At.Last = At.First;
      for (const YAML::Node &Range : Note["Ranges"])
        widen(At, Range);
      Finding.Notes.push_back({At, Note["Message"].as<std::string>("")});
    }
    Result.Findings.push_back(std::move(Finding));
  }

private:
  std::string whole(const YAML::Node &Node) const {
    const fs::path File = Node["FilePath"].as<std::string>("");
    if (File.empty())
      return "";
    return fs::absolute(File.is_absolute() ? File : fs::path(Folder) / File)
        .lexically_normal();
  }

  LineRange place(const YAML::Node &Node, unsigned &Column) {
    LineRange Range;
    Range.File = whole(Node);
    const auto At = Lines.at(Range.File, Node["FileOffset"].as<size_t>(0));
    Range.First = At.Line;
    Column = At.Column;
    return Range;
  }

  /// The first range is the statement; others mark parts of it.
  void widen(LineRange &Place, const YAML::Node &Range) {
    if (!Place.isKnown() || whole(Range) != Place.File)
      return;
    const size_t Offset = Range["FileOffset"].as<size_t>(0);
    const size_t Length = Range["Length"].as<size_t>(0);
    const unsigned First = Lines.at(Place.File, Offset).Line;
    const unsigned Last = Lines.at(Place.File, Offset + Length).Line;
    if (!First || !Last || Last < Place.First)
      return;
    Place.First = std::min(Place.First, First);
    Place.Last = std::max(Place.Last, Last);
  }

  FindingsFile &Result;
  Sources Lines;
  std::string Folder;
};

} // namespace

void readYaml(const std::string &Text, FindingsFile &Result) {
  try {
    const YAML::Node File = YAML::Load(Text);
    if (!File.IsMap() || !File["Diagnostics"])
      throw UserError("'" + Result.Path +
                      "' is YAML, but not what clang-tidy's --export-fixes "
                      "writes: it has no Diagnostics");
    Diagnostics All(Result);
    for (const YAML::Node &Node : File["Diagnostics"])
      All.add(Node);
  } catch (const YAML::Exception &Error) {
    throw UserError("'" + Result.Path + "' is no YAML: " + Error.what());
  }
  const bool IsAnyPlaced = std::any_of(
      Result.Findings.begin(), Result.Findings.end(),
      [](const DiagnosedFinding &F) { return F.Statement.isKnown(); });
  if (!Result.Findings.empty() && !IsAnyPlaced)
    throw UserError("'" + Result.Path +
                    "' gives places as offsets, and the sources that it names "
                    "cannot be read; SARIF has line numbers");
}

} // namespace torchtidy::confirm

#else

namespace torchtidy::confirm {

void readYaml(const std::string &Text, FindingsFile &Result) {
  throw UserError(
      "'" + Result.Path +
      "' is YAML, and this torch-confirm was built without yaml-cpp "
      "(Debian: libyaml-cpp-dev); give it SARIF, which 'torch-tidy "
      "--sarif=FILE' writes, or the text that clang-tidy prints");
}

} // namespace torchtidy::confirm

#endif
