// What was found in a file is kept for the next run: where nothing has changed,
// nothing is analysed.
#ifndef TORCHTIDY_TOOL_RUN_KEPTRESULTS_H
#define TORCHTIDY_TOOL_RUN_KEPTRESULTS_H

#include "run/FileAnalysis.h"
#include <optional>
#include <string>
#include <vector>

namespace torchtidy::tool {

/// Each is a file in the folder "results" of the cache, named by a hash of what
/// is known before a file is looked at: the program, the source's name and
/// compile commands, the settings, its configuration. In it stands what was
/// found, and everything that the analysis asked of the file system (Reads): it
/// is used where that would be answered as before. As with precompiled headers,
/// one that cannot be read or trusted is one that is not there, and what cannot
/// be kept costs time and nothing else.
class KeptResults {
public:
  /// Headers: whose entries results depend on.
  KeptResults(const AnalysisSettings &Settings, HeaderCache &Headers);
  /// Removes what was not used for longest where there is too much.
  ~KeptResults();
  KeptResults(const KeptResults &) = delete;
  KeptResults &operator=(const KeptResults &) = delete;

  /// Empty where nothing is kept of this source.
  std::string key(const std::string &Source,
                  const clang::tooling::CompilationDatabase &Database,
                  clang::tidy::ClangTidyContext &Context) const;
  /// What was found when this source was last analysed, if nothing has changed
  /// that it depends on.
  std::optional<JobOutcome> find(llvm::StringRef Key);
  void keep(llvm::StringRef Key, const JobOutcome &Outcome,
            const FileResult &Result);

private:
  std::string pathOf(llvm::StringRef Key) const;

  const AnalysisSettings &Settings;
  HeaderCache &Headers;
  /// Empty: nothing is kept.
  std::string Folder;
  Unchanged IsUnchanged;
  bool HasKept = false;
};

} // namespace torchtidy::tool

#endif
