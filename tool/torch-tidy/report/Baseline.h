// Findings that are known and left for later: with them in a file, a project
// that has many can begin to refuse new ones.
#ifndef TORCHTIDY_TOOL_REPORT_BASELINE_H
#define TORCHTIDY_TOOL_REPORT_BASELINE_H

#include "report/Locations.h"
#include <map>
#include <tuple>

namespace torchtidy::tool {

/// The file is JSON, with the check, the file and the words of the line of each
/// finding, sorted: lines may move, and a change of it can be reviewed. Names
/// of files are relative to its folder. Compile errors never belong to it.
class Baseline {
public:
  /// File: where it is, or will be.
  Baseline(llvm::StringRef File,
           llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);

  /// False where that fails, which has been said then.
  bool read();
  void add(const Findings &All);
  void write(llvm::raw_ostream &OS) const;

  /// Removes what the baseline holds, of lines that are alike as many as it
  /// holds, and returns how many these were. To be called once.
  unsigned subtract(Findings &All);
  /// How many findings it holds of files among Sources that there were no more.
  unsigned numGone(llvm::ArrayRef<std::string> Sources) const;
  unsigned size() const;

private:
  /// File, words of the line, check.
  using Key = std::tuple<std::string, std::string, std::string>;
  Key keyOf(const clang::tidy::ClangTidyError &Finding);

  std::string File;
  Locations Where;
  /// How many there are of each.
  std::map<Key, unsigned> Known;
};

} // namespace torchtidy::tool

#endif
