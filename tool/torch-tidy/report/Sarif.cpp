#include "report/Sarif.h"
#include "Registry.h"
#include "report/Formats.h"
#include "report/Locations.h"
#include "report/Uri.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <tuple>

using namespace clang;
using namespace clang::tidy;
using namespace llvm;

namespace torchtidy::tool {
namespace {

constexpr llvm::StringLiteral Base = "SRCROOT";

class Log {
public:
  Log(const RunResult &Run, StringRef Executable,
      IntrusiveRefCntPtr<vfs::FileSystem> FS)
      : Executable(Executable), Where(".", std::move(FS)) {
    for (const Evidence &Each : Run.Evidences)
      Evidences.try_emplace(
          {Each.Check, Each.FilePath, Each.FileOffset, Each.Message}, &Each);
  }

  void add(const ClangTidyError &Finding);
  json::Value finish(const RunResult &Run, bool AllAnalysed);

private:
  json::Object artifact(StringRef Path, StringRef Folder) const;
  json::Object region(StringRef Path, StringRef Folder, unsigned Offset,
                      unsigned Length);
  json::Object locationOf(const tooling::FileByteRange &Range,
                          StringRef Folder);
  json::Value fixOf(const StringMap<tooling::Replacements> &Fix,
                    StringRef Folder);
  const Evidence *evidenceOf(const ClangTidyError &Finding) const;
  json::Object evidence(const ClangTidyError &Finding);
  json::Array notesOf(const ClangTidyError &Finding);
  unsigned rule(const ClangTidyError &Finding);

  StringRef Executable;
  Locations Where;
  Fingerprints Names;
  std::map<std::tuple<StringRef, StringRef, unsigned, StringRef>,
           const Evidence *>
      Evidences;
  StringMap<unsigned> RuleIndex;
  json::Array Rules, Results;
};

json::Object Log::artifact(StringRef Path, StringRef Folder) const {
  if (const std::string Relative = Where.belowRoot(Path, Folder);
      !Relative.empty())
    return json::Object{{"uri", uriPath(Relative)}, {"uriBaseId", Base}};
  return json::Object{
      {"uri", "file://" + uriPath(Locations::whole(Path, Folder))}};
}

json::Object Log::region(StringRef Path, StringRef Folder, unsigned Offset,
                         unsigned Length) {
  const SourcePlace Begin = Where.place(Path, Folder, Offset);
  json::Object Result{{"startLine", Begin.Line}, {"startColumn", Begin.Column}};
  if (Length) {
    const SourcePlace End = Where.place(Path, Folder, Offset + Length);
    Result["endLine"] = End.Line;
    Result["endColumn"] = End.Column;
  }
  return Result;
}

json::Object Log::locationOf(const tooling::FileByteRange &Range,
                             StringRef Folder) {
  return json::Object{
      {"physicalLocation",
       json::Object{{"artifactLocation", artifact(Range.FilePath, Folder)},
                    {"region", region(Range.FilePath, Folder, Range.FileOffset,
                                      Range.Length)}}}};
}

/// "insert 'optimizer.zero_grad();'"; a viewer shows it in a menu.
std::string
describe(const std::map<StringRef, const tooling::Replacements *> &Edits) {
  std::string Result;
  for (const auto &[Path, Here] : Edits)
    for (const tooling::Replacement &Each : *Here) {
      const StringRef New = Each.getReplacementText().trim();
      if (!Result.empty())
        Result += ", ";
      if (New.empty())
        Result +=
            Each.getLength() ? "remove what is not needed" : "add a blank";
      else
        Result += ((Each.getLength() ? "replace by '" : "insert '") + New + "'")
                      .str();
    }
  return json::fixUTF8(Result);
}

json::Value Log::fixOf(const StringMap<tooling::Replacements> &Fix,
                       StringRef Folder) {
  std::map<StringRef, const tooling::Replacements *> Sorted;
  for (const auto &Entry : Fix)
    Sorted[Entry.first()] = &Entry.second;
  json::Array Changes;
  for (const auto &[Path, Edits] : Sorted) {
    json::Array Replacements;
    for (const tooling::Replacement &Each : *Edits) {
      json::Object Deleted =
          region(Path, Folder, Each.getOffset(), Each.getLength());
      if (!Each.getLength()) {
        // A region without an end reaches to the end of the line.
        Deleted["endLine"] = *Deleted.get("startLine");
        Deleted["endColumn"] = *Deleted.get("startColumn");
      }
      Replacements.push_back(json::Object{
          {"deletedRegion", std::move(Deleted)},
          {"insertedContent", sarifText(Each.getReplacementText())}});
    }
    Changes.push_back(json::Object{{"artifactLocation", artifact(Path, Folder)},
                                   {"replacements", std::move(Replacements)}});
  }
  return json::Object{{"description", sarifText(describe(Sorted))},
                      {"artifactChanges", std::move(Changes)}};
}

const Evidence *Log::evidenceOf(const ClangTidyError &Finding) const {
  auto It =
      Evidences.find({Finding.DiagnosticName, Finding.Message.FilePath,
                      Finding.Message.FileOffset, Finding.Message.Message});
  return It == Evidences.end() ? nullptr : It->second;
}

/// The notes with a role are those of the check, in its order; others are
/// Clang's.
json::Array Log::notesOf(const ClangTidyError &Finding) {
  const Evidence *Known = evidenceOf(Finding);
  ArrayRef<NoteEvidence> Left;
  if (Known)
    Left = Known->Notes;
  json::Array Result;
  for (const tooling::DiagnosticMessage &Note : Finding.Notes) {
    if (Note.FilePath.empty())
      continue;
    json::Object At = locationOf(Where.marked(Note), Finding.BuildDirectory);
    At["id"] = Result.size() + 1;
    At["message"] = sarifText(Note.Message);
    const auto *Own = llvm::find_if(Left, [&](const NoteEvidence &Each) {
      return Each.FilePath == Note.FilePath &&
             Each.FileOffset == Note.FileOffset;
    });
    if (Own != Left.end()) {
      At["properties"] =
          json::Object{{"torchTidy", json::Object{{"role", Own->Role}}}};
      Left = Left.drop_front(Own - Left.begin() + 1);
    }
    Result.push_back(std::move(At));
  }
  return Result;
}

json::Object Log::evidence(const ClangTidyError &Finding) {
  json::Object Result;
  if (const std::optional<unsigned> Level = levelOf(Finding.DiagnosticName))
    Result["level"] = *Level;
  const CheckInfo *Check = findCheck(Finding.DiagnosticName);
  if (!Check)
    return Result;
  Result["evidence"] = Check->Evidence;
  for (const tooling::FileByteRange &Range :
       ArrayRef(Finding.Message.Ranges).take_front(1))
    Result["statement"] = locationOf(Range, Finding.BuildDirectory);
  const Evidence *Known = evidenceOf(Finding);
  if (!Known)
    return Result;
  if (!Known->Kind.empty())
    Result["kind"] = Known->Kind;
  if (!Known->Loop.FilePath.empty())
    Result["loop"] = locationOf(Known->Loop, Known->Folder);
  if (!Known->IterationSite.FilePath.empty())
    Result["iterationSite"] = locationOf(Known->IterationSite, Known->Folder);
  return Result;
}

unsigned Log::rule(const ClangTidyError &Finding) {
  auto [It, IsNew] =
      RuleIndex.try_emplace(Finding.DiagnosticName, unsigned(Rules.size()));
  if (IsNew)
    Rules.push_back(sarifRule(Finding.DiagnosticName, Executable));
  return It->second;
}

void Log::add(const ClangTidyError &Finding) {
  const StringRef Folder = Finding.BuildDirectory;
  json::Object Result{{"ruleId", Finding.DiagnosticName},
                      {"ruleIndex", rule(Finding)},
                      {"message", sarifText(Finding.Message.Message)}};
  const CheckInfo *Check = findCheck(Finding.DiagnosticName);
  Result["level"] = isError(Finding) ? "error"
                    : Check          ? sarifLevel(Check->Level)
                                     : "warning";
  if (!Finding.Message.FilePath.empty()) {
    Result["locations"] =
        json::Array{locationOf(Where.marked(Finding.Message), Folder)};
    Result["partialFingerprints"] =
        json::Object{{"torchTidy/v1", Names.of(Finding, Where)}};
  }
  if (json::Array Related = notesOf(Finding); !Related.empty())
    Result["relatedLocations"] = std::move(Related);
  if (!Finding.Message.Fix.empty())
    Result["fixes"] = json::Array{fixOf(Finding.Message.Fix, Folder)};
  if (json::Object Known = evidence(Finding); !Known.empty())
    Result["properties"] = json::Object{{"torchTidy", std::move(Known)}};
  Results.push_back(std::move(Result));
}

json::Value Log::finish(const RunResult &Run, bool AllAnalysed) {
  json::Array Notifications;
  for (const auto &[Source, Reason] : Run.Failures)
    Notifications.push_back(json::Object{
        {"level", "error"},
        {"message", sarifText("not analysed: " + Reason)},
        {"locations", json::Array{json::Object{
                          {"physicalLocation",
                           json::Object{{"artifactLocation",
                                         artifact(Source, Where.root())}}}}}}});
  if (Run.Unanalysed)
    Notifications.push_back(sarifUnanalysed(Run.Unanalysed, Run.Functions));
  json::Object Invocation{{"executionSuccessful", AllAnalysed}};
  if (Run.ThisPart)
    Invocation["properties"] = json::Object{
        {"torchTidy", json::Object{{"shard", int64_t(Run.ThisPart->Number)},
                                   {"shards", int64_t(Run.ThisPart->Count)},
                                   {"plan", Run.ThisPart->Plan},
                                   {"unanalysed", int64_t(Run.Unanalysed)},
                                   {"functions", int64_t(Run.Functions)}}}};
  if (!Notifications.empty())
    Invocation["toolExecutionNotifications"] = std::move(Notifications);
  json::Object Driver{{"name", "torch-tidy"},
                      {"version", TORCH_TIDY_VERSION},
                      {"rules", std::move(Rules)}};
  json::Object Bases{
      {Base, json::Object{{"uri", "file://" + uriPath(Where.root()) + "/"}}}};
  json::Object TheRun{{"tool", json::Object{{"driver", std::move(Driver)}}},
                      {"columnKind", "unicodeCodePoints"},
                      {"originalUriBaseIds", std::move(Bases)},
                      {"invocations", json::Array{std::move(Invocation)}},
                      {"results", std::move(Results)}};
  return json::Object{
      {"$schema", "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/"
                  "schemas/sarif-schema-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs", json::Array{std::move(TheRun)}}};
}

} // namespace

json::Value toSarif(const RunResult &Run, const Findings &All, bool AllAnalysed,
                    StringRef Executable,
                    IntrusiveRefCntPtr<vfs::FileSystem> FS) {
  Log Result(Run, Executable, std::move(FS));
  for (const ClangTidyError &Finding : All)
    Result.add(Finding);
  return Result.finish(Run, AllAnalysed);
}

} // namespace torchtidy::tool
