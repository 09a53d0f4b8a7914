// What the analysis of one file came to, and its way from one process to
// another.
#ifndef TORCHTIDY_TOOL_RUN_FILERESULT_H
#define TORCHTIDY_TOOL_RUN_FILERESULT_H

#include "cache/Reads.h"
#include "clang-tidy/ClangTidyDiagnosticConsumer.h"
#include "run/Evidence.h"
#include "run/FunctionRanges.h"
#include "run/HiddenCode.h"
#include "run/Nolints.h"
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace torchtidy::tool {

struct FileResult {
  /// After NOLINT and the filters, each once.
  std::vector<clang::tidy::ClangTidyError> Findings;
  /// Of the torch checks' findings, those left out included.
  std::vector<Evidence> Evidences;
  std::vector<Shortfall> Shortfalls;
  /// Of comments that silence.
  std::vector<NolintName> Nolints;
  /// Itself and what it includes, without headers of the system and LibTorch's:
  /// those that somebody may edit.
  std::vector<std::string> UserFiles;
  /// Where AnalysisSettings::IsTree.
  std::vector<WrittenName> Written;
  /// What was not parsed.
  std::vector<HiddenCode> Hidden;
  /// The macro that was defined to parse more of an unconfigured file.
  std::string Defined;
  clang::tidy::ClangTidyStats Stats;
  /// What Clang counts, with what clang-tidy leaves out of its findings.
  unsigned Warnings = 0, Errors = 0;
  /// Why it was not analysed; empty where it was.
  std::string Failure;
  /// It was not parsed: nothing in it, or in what it includes, is LibTorch's.
  bool UsesNoLibTorch = false;
  /// Why no precompiled header could be made; empty if none was wanted.
  std::string Trouble;
  /// Of the user's functions with a body, how many there are, and how many
  /// were analysed around compile errors in them. Where stock checks are
  /// enabled they are not counted.
  unsigned Functions = 0, Unanalysed = 0;
  /// How it was parsed, a line for each attempt.
  std::string Explained;
  /// All that it depends on but the compile command and the settings. False
  /// where that is not known.
  bool MayBeKept = false;
  Reads Read;
  /// Of the precompiled headers, what HeaderCache::isCurrent() asks for.
  std::vector<std::pair<std::string, std::string>> Headers;
};

/// Bytes, not text: messages and paths need not be UTF-8.
std::string encode(const FileResult &Result);
/// Empty for what encode() has not made.
std::optional<FileResult> decode(llvm::StringRef Bytes);

} // namespace torchtidy::tool

#endif
