// Runs the checks over all source files, several at a time.
#ifndef TORCHTIDY_TOOL_RUN_RUNNER_H
#define TORCHTIDY_TOOL_RUN_RUNNER_H

#include "run/FileAnalysis.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace torchtidy::tool {

struct RunSettings {
  AnalysisSettings Analysis;
  PoolSettings Processes;
  /// Findings are compared with those of another run: one path for each file,
  /// whatever the number of sources.
  bool AreCompared = false;
  /// Nothing is said of how many warnings and errors there are in a file.
  bool IsQuiet = false;
};

struct RunResult {
  /// What is shown: after NOLINT and the filters, each once, in clang-tidy's
  /// order, whichever file was ready first.
  std::vector<clang::tidy::ClangTidyError> Findings;
  /// What goes with them; see evidenceOf().
  std::vector<Evidence> Evidences;
  /// Of each source that has met the comment.
  std::vector<NolintName> Nolints;
  /// Each function once.
  std::vector<Shortfall> Shortfalls;
  /// Of each source what FileResult::UserFiles says.
  std::map<std::string, std::vector<std::string>> UserFiles;
  /// Where AnalysisSettings::IsTree. Of a header once for each source.
  std::vector<WrittenName> Written;
  /// Each part once.
  std::vector<HiddenCode> Hidden;
  /// Macros that were defined to parse more, and in how many files.
  std::map<std::string, unsigned> Defined;
  clang::tidy::ClangTidyStats Stats;
  struct Failure {
    std::string Source;
    std::string Reason;
  };
  /// Sources that were not analysed.
  std::vector<Failure> Failures;
  /// Of the user's functions (see FileResult).
  unsigned Functions = 0, Unanalysed = 0;
  /// How many sources came to an end, well or not.
  size_t NumDone = 0;
  /// How many of them do not use LibTorch, and were not parsed.
  size_t NumWithoutLibTorch = 0;
  /// Of the sources that were analysed in this run, what they took.
  std::vector<std::pair<std::string, double>> Seconds;
  /// Which part of the sources these were; nothing where they were all.
  struct Part {
    unsigned Number, Count;
    std::string Plan;
  };
  std::optional<Part> ThisPart;
  /// The signal that ended the run before its time, or 0.
  int Signal = 0;
};

/// Each function once: one of a header is met in several files.
void addShortfalls(RunResult &To, std::vector<Shortfall> More);

/// Takes out the findings that are meant, with what goes with them. How many
/// they were.
size_t
dropFindings(RunResult &From,
             llvm::function_ref<bool(const clang::tidy::ClangTidyError &)> Is);

/// Each file is analysed in a process of its own, which does nothing but find:
/// what is done with the findings is done here, once.
RunResult runChecks(const ContextMaker &MakeContext,
                    const clang::tooling::CompilationDatabase &Database,
                    llvm::ArrayRef<std::string> Sources,
                    llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> FS,
                    const RunSettings &Settings);

} // namespace torchtidy::tool

#endif
