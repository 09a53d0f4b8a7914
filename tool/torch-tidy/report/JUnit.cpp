#include "report/JUnit.h"
#include "report/Formats.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace clang;
using namespace clang::tidy;
using namespace llvm;

namespace torchtidy::tool {
namespace {

/// XML has no way to write most control characters.
std::string xml(StringRef Text) {
  std::string Plain = json::fixUTF8(Text);
  for (char &C : Plain)
    if (static_cast<unsigned char>(C) < ' ' && C != '\n' && C != '\t')
      C = ' ';
  std::string Result;
  raw_string_ostream OS(Result);
  printHTMLEscaped(Plain, OS);
  return Result;
}

void writeCase(raw_ostream &OS, const ClangTidyError &Finding,
               Locations &Where) {
  const StringRef Folder = Finding.BuildDirectory;
  auto Place = [&](const tooling::DiagnosticMessage &At) {
    if (At.FilePath.empty())
      return std::string();
    const SourcePlace Begin = Where.place(At.FilePath, Folder, At.FileOffset);
    return Where.name(At.FilePath, Folder) + ":" + std::to_string(Begin.Line) +
           ":" + std::to_string(Begin.Column);
  };
  const std::string At = Place(Finding.Message);
  OS << "    <testcase classname=\"" << xml(Finding.DiagnosticName)
     << "\" name=\"" << xml(At.empty() ? Finding.DiagnosticName : At)
     << "\">\n      <failure type=\""
     << (isError(Finding) ? "error" : "warning") << "\" message=\""
     << xml(Finding.Message.Message) << "\">" << xml(At)
     << (At.empty() ? "" : ": ")
     << xml(Finding.Message.Message + " [" + Finding.DiagnosticName + "]");
  for (const tooling::DiagnosticMessage &Note : Finding.Notes)
    if (!Note.FilePath.empty())
      OS << '\n' << xml(Place(Note) + ": " + Note.Message);
  OS << "</failure>\n    </testcase>\n";
}

} // namespace

void writeJUnit(raw_ostream &OS, const Findings &All,
                IntrusiveRefCntPtr<vfs::FileSystem> FS) {
  Locations Where(".", std::move(FS));
  MapVector<std::string, std::vector<const ClangTidyError *>,
            std::map<std::string, unsigned>>
      ByFile;
  for (const ClangTidyError &Finding : All)
    ByFile[Finding.Message.FilePath.empty()
               ? "torch-tidy"
               : Where.name(Finding.Message.FilePath, Finding.BuildDirectory)]
        .push_back(&Finding);
  OS << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
     << "<testsuites name=\"torch-tidy\" tests=\""
     << std::max<size_t>(1, All.size()) << "\" failures=\"" << All.size()
     << "\" errors=\"0\">\n";
  for (const auto &[File, Here] : ByFile) {
    OS << "  <testsuite name=\"" << xml(File) << "\" tests=\"" << Here.size()
       << "\" failures=\"" << Here.size() << "\" errors=\"0\">\n";
    for (const ClangTidyError *Finding : Here)
      writeCase(OS, *Finding, Where);
    OS << "  </testsuite>\n";
  }
  if (ByFile.empty())
    OS << "  <testsuite name=\"torch-tidy\" tests=\"1\" failures=\"0\" "
          "errors=\"0\">\n    <testcase classname=\"torch-tidy\" name=\"no "
          "findings\"/>\n  </testsuite>\n";
  OS << "</testsuites>\n";
}

} // namespace torchtidy::tool
