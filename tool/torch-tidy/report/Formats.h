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
  /// JUnit's XML: a suite for each file, a failed case for each finding.
  JUnit,
};

/// A compile error, or what --warnings-as-errors makes one.
bool isError(const clang::tidy::ClangTidyError &Finding);

/// Empty for a name that is none.
std::optional<Format> parseFormat(llvm::StringRef Name);

/// GitHub, GitLab, JsonLines or JUnit. Paths below the current folder are
/// relative to it, others absolute. FailOn: findings of that level or below
/// fail the step, which GitHub shows as errors.
void writeFindings(llvm::raw_ostream &OS, Format Which, const Findings &All,
                   std::optional<unsigned> FailOn,
                   llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);

/// How many findings there are of each check, most first: as a table, or one
/// JSON object for each.
void writeStatistics(llvm::raw_ostream &OS, Format Which, const Findings &All);

} // namespace torchtidy::tool

#endif
