#include "report/Formats.h"
#include "Registry.h"
#include "report/JUnit.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace clang;
using namespace clang::tidy;
using namespace llvm;

namespace torchtidy::tool {

bool isError(const ClangTidyError &Finding) {
  return Finding.IsWarningAsError || Finding.DiagLevel == ClangTidyError::Error;
}

namespace {

struct Span {
  std::string File;
  SourcePlace Begin, End;
};

class Writer {
public:
  Writer(raw_ostream &OS, IntrusiveRefCntPtr<vfs::FileSystem> FS)
      : OS(OS), Where(".", std::move(FS)) {}

  void gitHub(const ClangTidyError &Finding, std::optional<unsigned> FailOn);
  json::Object gitLab(const ClangTidyError &Finding);
  json::Object jsonLine(const ClangTidyError &Finding);

private:
  Span spanOf(const tooling::FileByteRange &Range, StringRef Folder) {
    return {
        Where.name(Range.FilePath, Folder),
        Where.place(Range.FilePath, Folder, Range.FileOffset),
        Where.place(Range.FilePath, Folder, Range.FileOffset + Range.Length)};
  }
  Span spanOf(const tooling::DiagnosticMessage &At, StringRef Folder) {
    return spanOf(Where.marked(At), Folder);
  }

  raw_ostream &OS;
  Locations Where;
  Fingerprints Names;
};

/// A command ends with its line, a property with a comma.
std::string escaped(StringRef Text, bool IsProperty) {
  std::string Result;
  for (const char C : Text)
    if (C == '%' || C == '\r' || C == '\n' ||
        (IsProperty && (C == ':' || C == ',')))
      Result += formatv("%{0:X-2}", static_cast<unsigned char>(C)).str();
    else
      Result += C;
  return Result;
}

void Writer::gitHub(const ClangTidyError &Finding,
                    std::optional<unsigned> FailOn) {
  const std::optional<unsigned> Level = levelOf(Finding.DiagnosticName);
  const bool Fails = isError(Finding) || (Level && FailOn && *Level <= *FailOn);
  OS << (Fails ? "::error" : "::warning")
     << " title=" << escaped(Finding.DiagnosticName, true);
  std::string Words = Finding.Message.Message;
  if (!Finding.Message.FilePath.empty()) {
    const Span At = spanOf(Finding.Message, Finding.BuildDirectory);
    OS << ",file=" << escaped(At.File, true) << ",line=" << At.Begin.Line
       << ",endLine=" << At.End.Line << ",col=" << At.Begin.Column;
    // An annotation of several lines has no columns.
    if (At.End.Line == At.Begin.Line)
      OS << ",endColumn=" << At.End.Column;
  }
  for (const tooling::DiagnosticMessage &Note : Finding.Notes) {
    if (Note.FilePath.empty())
      continue;
    const Span At = spanOf(Note, Finding.BuildDirectory);
    Words += formatv("\n{0}:{1}: {2}", At.File, At.Begin.Line, Note.Message);
  }
  OS << "::" << escaped(Words, false) << '\n';
}

json::Object Writer::gitLab(const ClangTidyError &Finding) {
  const unsigned Level = levelOf(Finding.DiagnosticName).value_or(0);
  const StringRef Severity = isError(Finding) ? "critical"
                             : Level == 0     ? "major"
                             : Level == 1     ? "minor"
                                              : "info";
  const Span At = spanOf(Finding.Message, Finding.BuildDirectory);
  return json::Object{
      {"description", json::fixUTF8(Finding.Message.Message)},
      {"check_name", Finding.DiagnosticName},
      {"fingerprint", Names.of(Finding, Where)},
      {"severity", Severity},
      {"location",
       json::Object{{"path", json::fixUTF8(At.File)},
                    {"lines", json::Object{{"begin", At.Begin.Line},
                                           {"end", At.End.Line}}}}}};
}

json::Object describe(const Span &At) {
  return json::Object{{"file", json::fixUTF8(At.File)},
                      {"line", At.Begin.Line},
                      {"column", At.Begin.Column},
                      {"endLine", At.End.Line},
                      {"endColumn", At.End.Column}};
}

json::Object Writer::jsonLine(const ClangTidyError &Finding) {
  const StringRef Folder = Finding.BuildDirectory;
  json::Object Result = Finding.Message.FilePath.empty()
                            ? json::Object()
                            : describe(spanOf(Finding.Message, Folder));
  Result["check"] = Finding.DiagnosticName;
  if (const std::optional<unsigned> Level = levelOf(Finding.DiagnosticName))
    Result["level"] = *Level;
  Result["severity"] = isError(Finding) ? "error" : "warning";
  Result["message"] = json::fixUTF8(Finding.Message.Message);
  Result["fingerprint"] = Names.of(Finding, Where);
  json::Array Notes, Edits;
  for (const tooling::DiagnosticMessage &Note : Finding.Notes) {
    json::Object Each =
        Note.FilePath.empty() ? json::Object() : describe(spanOf(Note, Folder));
    Each["message"] = json::fixUTF8(Note.Message);
    Notes.push_back(std::move(Each));
  }
  std::map<StringRef, const tooling::Replacements *> Sorted;
  for (const auto &Entry : Finding.Message.Fix)
    Sorted[Entry.first()] = &Entry.second;
  for (const auto &[Path, Replacements] : Sorted)
    for (const tooling::Replacement &Each : *Replacements) {
      tooling::FileByteRange Range;
      Range.FilePath = Path.str();
      Range.FileOffset = Each.getOffset();
      Range.Length = Each.getLength();
      json::Object Edit = describe(spanOf(Range, Folder));
      Edit["text"] = json::fixUTF8(Each.getReplacementText());
      Edits.push_back(std::move(Edit));
    }
  Result["notes"] = std::move(Notes);
  Result["edits"] = std::move(Edits);
  return Result;
}

} // namespace

std::optional<Format> parseFormat(StringRef Name) {
  return StringSwitch<std::optional<Format>>(Name)
      .Case("text", Format::Text)
      .Case("sarif", Format::Sarif)
      .Case("github", Format::GitHub)
      .Case("gitlab", Format::GitLab)
      .Case("jsonl", Format::JsonLines)
      .Case("junit", Format::JUnit)
      .Default(std::nullopt);
}

void writeFindings(raw_ostream &OS, Format Which, const Findings &All,
                   std::optional<unsigned> FailOn,
                   IntrusiveRefCntPtr<vfs::FileSystem> FS) {
  if (Which == Format::JUnit)
    return writeJUnit(OS, All, std::move(FS));
  Writer To(OS, std::move(FS));
  json::Array Report;
  for (const ClangTidyError &Finding : All) {
    if (Which == Format::GitHub)
      To.gitHub(Finding, FailOn);
    else if (Which == Format::JsonLines)
      OS << json::Value(To.jsonLine(Finding)) << '\n';
    else if (!Finding.Message.FilePath.empty())
      // A report without a file is refused.
      Report.push_back(To.gitLab(Finding));
  }
  if (Which == Format::GitLab)
    OS << formatv("{0:2}", json::Value(std::move(Report))) << '\n';
}

} // namespace torchtidy::tool
