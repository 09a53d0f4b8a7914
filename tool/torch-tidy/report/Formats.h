// The findings in the words of the services that show them beside the code.
#ifndef TORCHTIDY_TOOL_REPORT_FORMATS_H
#define TORCHTIDY_TOOL_REPORT_FORMATS_H

#include "report/Locations.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>

namespace torchtidy::tool {

/// What goes to standard output.
enum class Format {
  /// As clang-tidy prints it.
  Text,
  Sarif,
  /// Workflow commands of GitHub Actions, which become annotations:
  /// ::warning file=...,line=...
  GitHub,
  /// A Code Quality report of GitLab: a JSON array.
  GitLab,
  /// One JSON object for each finding, each on a line of its own.
  JsonLines,
};

/// Empty for a name that is none.
std::optional<Format> parseFormat(llvm::StringRef Name);

/// GitHub, GitLab or JsonLines. Paths below the current folder are relative to
/// it, others absolute.
void writeFindings(llvm::raw_ostream &OS, Format Which, const Findings &All,
                   llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);

} // namespace torchtidy::tool

#endif
