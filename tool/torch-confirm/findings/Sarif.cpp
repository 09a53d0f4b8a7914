// SARIF 2.1.0, of torch-tidy and of other tools.
#include "findings/Read.h"
#include "support/Errors.h"
#include <filesystem>
#include <nlohmann/json.hpp>

using nlohmann::json;
namespace fs = std::filesystem;

namespace torchtidy::confirm {
namespace {

const json Nothing;

/// The member at the end of a way of names; null where there is none.
const json &at(const json &Value, std::initializer_list<const char *> Way) {
  const json *Here = &Value;
  for (const char *Name : Way) {
    if (!Here->is_object())
      return Nothing;
    auto It = Here->find(Name);
    if (It == Here->end())
      return Nothing;
    Here = &*It;
  }
  return *Here;
}

std::string words(const json &Value) {
  return Value.is_string() ? Value.get<std::string>() : "";
}

unsigned number(const json &Value) {
  return Value.is_number_unsigned() ? Value.get<unsigned>() : 0;
}

/// "%20" and the like.
std::string decoded(const std::string &Uri) {
  std::string Result;
  for (size_t I = 0; I < Uri.size(); ++I) {
    if (Uri[I] == '%' && I + 2 < Uri.size() && std::isxdigit(Uri[I + 1]) &&
        std::isxdigit(Uri[I + 2])) {
      Result += char(std::stoi(Uri.substr(I + 1, 2), nullptr, 16));
      I += 2;
    } else {
      Result += Uri[I];
    }
  }
  return Result;
}

class SarifRun {
public:
  SarifRun(const json &Run, const fs::path &Folder)
      : Run(Run), Folder(Folder) {}

  LineRange range(const json &Location) const {
    const json &Physical = at(Location, {"physicalLocation"});
    return range(at(Physical, {"artifactLocation"}), at(Physical, {"region"}));
  }

  /// As torch-tidy's own properties have it: a location, or a region beside the
  /// name of its file.
  LineRange ownRange(const json &Value) const {
    if (!Value.is_object())
      return {};
    if (Value.contains("physicalLocation"))
      return range(Value);
    return range(Value, Value.contains("region") ? Value["region"] : Value);
  }

  std::string check(const json &Result) const {
    if (std::string Id = words(at(Result, {"ruleId"})); !Id.empty())
      return Id;
    std::string Id = words(at(Result, {"rule", "id"}));
    const json &Index = at(Result, {"ruleIndex"});
    const json &Rules = at(Run, {"tool", "driver", "rules"});
    if (Id.empty() && Index.is_number_unsigned() && Rules.is_array() &&
        Index.get<size_t>() < Rules.size())
      Id = words(at(Rules[Index.get<size_t>()], {"id"}));
    return Id;
  }

  /// Of the fixes of a result, which are alternatives, the first.
  std::vector<FindingEdit> fix(const json &Result) const {
    std::vector<FindingEdit> All;
    const json &Fixes = at(Result, {"fixes"});
    if (!Fixes.is_array() || Fixes.empty())
      return All;
    const json &Changes = at(Fixes[0], {"artifactChanges"});
    if (!Changes.is_array())
      return All;
    for (const json &Change : Changes) {
      const std::string Changed = file(at(Change, {"artifactLocation"}));
      const json &Parts = at(Change, {"replacements"});
      if (!Parts.is_array())
        continue;
      for (const json &Part : Parts) {
        const json &Region = at(Part, {"deletedRegion"});
        FindingEdit Edit;
        Edit.File = Changed;
        Edit.Line = number(at(Region, {"startLine"}));
        Edit.Column = std::max(1u, number(at(Region, {"startColumn"})));
        Edit.EndLine = std::max(Edit.Line, number(at(Region, {"endLine"})));
        // 0: to the end of the line.
        Edit.EndColumn = number(at(Region, {"endColumn"}));
        Edit.Text = words(at(Part, {"insertedContent", "text"}));
        All.push_back(std::move(Edit));
      }
    }
    return All;
  }

private:
  LineRange range(const json &Artifact, const json &Region) const {
    LineRange Result;
    Result.First = number(at(Region, {"startLine"}));
    if (!Result.First)
      return {};
    Result.Last = number(at(Region, {"endLine"}));
    Result.File = file(Artifact);
    return Result;
  }

  std::string file(const json &Artifact) const {
    std::string Uri = words(at(Artifact, {"uri"}));
    const json &Index = at(Artifact, {"index"});
    const json &All = at(Run, {"artifacts"});
    if (Uri.empty() && Index.is_number_unsigned() && All.is_array() &&
        Index.get<size_t>() < All.size())
      return file(at(All[Index.get<size_t>()], {"location"}));
    if (const std::string Base = words(at(Artifact, {"uriBaseId"}));
        !Base.empty() && Uri.find("://") == std::string::npos)
      Uri = words(at(Run, {"originalUriBaseIds", Base.c_str(), "uri"})) + Uri;
    if (Uri.rfind("file:", 0) == 0) {
      Uri.erase(0, 5);
      // "file://host/path"; the host is empty or this one.
      if (Uri.rfind("//", 0) == 0)
        Uri.erase(0, std::min(Uri.find('/', 2), Uri.size()));
    }
    const fs::path Path = decoded(Uri);
    if (Path.empty())
      return "";
    return (Path.is_absolute() ? Path : Folder / Path).lexically_normal();
  }

  const json &Run;
  fs::path Folder;
};

DiagnosedFinding findingOf(const SarifRun &Run, const json &Result) {
  DiagnosedFinding Finding;
  Finding.Check = Run.check(Result);
  Finding.Message = words(at(Result, {"message", "text"}));
  const json &Locations = at(Result, {"locations"});
  if (Locations.is_array() && !Locations.empty()) {
    Finding.Statement = Run.range(Locations[0]);
    Finding.Line = Finding.Statement.First;
    Finding.Column =
        number(at(Locations[0], {"physicalLocation", "region", "startColumn"}));
  }
  const json &Related = at(Result, {"relatedLocations"});
  if (Related.is_array())
    for (const json &Note : Related)
      if (LineRange Place = Run.range(Note); Place.isKnown()) {
        Place.Last = std::max(Place.First, Place.Last);
        Finding.Notes.push_back(
            {Place, words(at(Note, {"message", "text"})),
             findRole(words(at(Note, {"properties", "torchTidy", "role"})))});
      }

  Finding.Fix = Run.fix(Result);
  const json &Own = at(Result, {"properties", "torchTidy"});
  Finding.Evidence = words(at(Own, {"evidence"}));
  Finding.Kind = findKind(Finding.Check, words(at(Own, {"kind"})));
  Finding.Loop = Run.ownRange(at(Own, {"loop"}));
  Finding.IterationSite = Run.ownRange(at(Own, {"iterationSite"}));
  const LineRange Whole = Run.ownRange(at(Own, {"statement"}));
  if (Whole.isKnown() && Whole.File == Finding.Statement.File &&
      Whole.First <= Finding.Statement.First) {
    Finding.Statement.First = Whole.First;
    Finding.Statement.Last = std::max(Finding.Statement.Last, Whole.Last);
  }
  return Finding;
}

} // namespace

void readSarif(const std::string &Text, FindingsFile &Result) {
  json File;
  try {
    File = json::parse(Text);
  } catch (const json::exception &Error) {
    throw UserError("'" + Result.Path + "' is damaged: " + Error.what());
  }
  const json &Runs = at(File, {"runs"});
  if (!Runs.is_array())
    throw UserError("'" + Result.Path +
                    "' is JSON, but not SARIF: it has no "
                    "runs; torch-tidy --sarif=FILE writes SARIF");
  const std::string Version = words(at(File, {"version"}));
  if (Version != "2.1.0")
    throw UserError("'" + Result.Path + "' is SARIF " +
                    (Version.empty() ? "of an unknown version" : Version) +
                    "; torch-confirm reads 2.1.0");
  // Where a URI is relative and no base is given, it is meant from there.
  const fs::path Folder = fs::current_path();
  for (size_t R = 0; R < Runs.size(); ++R) {
    const SarifRun Run(Runs[R], Folder);
    const json &Results = at(Runs[R], {"results"});
    if (!Results.is_array())
      continue;
    for (size_t I = 0; I < Results.size(); ++I) {
      DiagnosedFinding Finding = findingOf(Run, Results[I]);
      Finding.SarifRun = R;
      Finding.SarifResult = I;
      Result.Findings.push_back(std::move(Finding));
    }
  }
  Result.SarifText = Text;
}

} // namespace torchtidy::confirm
