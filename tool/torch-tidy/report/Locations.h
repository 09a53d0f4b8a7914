// Findings' places as other tools want them: files named from a root folder,
// lines and columns, and what tells one finding from another when its line
// moves.
#ifndef TORCHTIDY_TOOL_REPORT_LOCATIONS_H
#define TORCHTIDY_TOOL_REPORT_LOCATIONS_H

#include "report/Report.h"
#include "report/SourceText.h"
#include "clang/Tooling/Core/Diagnostic.h"
#include <map>

namespace torchtidy::tool {

class Locations {
public:
  /// Root: what names of files are relative to.
  Locations(llvm::StringRef Root,
            llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);

  /// The absolute path of a file that is named from Folder.
  static std::string whole(llvm::StringRef Path, llvm::StringRef Folder);
  /// The same from the root, for a file below it; empty for others.
  std::string belowRoot(llvm::StringRef Path, llvm::StringRef Folder) const;
  /// Of the two the one that there is.
  std::string name(llvm::StringRef Path, llvm::StringRef Folder) const;

  SourcePlace place(llvm::StringRef Path, llvm::StringRef Folder,
                    unsigned Offset);
  /// Where a diagnostic is, to the end of its first range that holds its place.
  clang::tooling::FileByteRange
  marked(const clang::tooling::DiagnosticMessage &At) const;

  /// The words of the line that a finding is in, with one space between them.
  std::string line(const clang::tidy::ClangTidyError &Finding);

  const std::string &root() const { return Root; }

private:
  std::string Root;
  SourceTexts Texts;
};

/// Names findings so that they are known again when their lines move: by the
/// check, the file and the words of the line. Lines that are alike are told
/// apart by their order.
class Fingerprints {
public:
  /// "0123456789abcdef:1"
  std::string of(const clang::tidy::ClangTidyError &Finding, Locations &Where);

private:
  /// How often each has been met.
  std::map<std::string, unsigned> Met;
};

} // namespace torchtidy::tool

#endif
