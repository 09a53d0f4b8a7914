// The lines that a change adds or alters, from git or from a patch.
#ifndef TORCHTIDY_TOOL_INPUTS_DIFF_H
#define TORCHTIDY_TOOL_INPUTS_DIFF_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <map>
#include <string>
#include <vector>

namespace torchtidy::tool {

class ChangedLines {
public:
  /// Of a unified diff (git diff, diff -u) whose names of files have a first
  /// part that does not count ("b/"). Folders: where the files may lie; the
  /// first in which one is. An error for what is no such diff; an empty one has
  /// no changes.
  static llvm::Expected<ChangedLines>
  ofPatch(llvm::StringRef Patch, llvm::ArrayRef<std::string> Folders);

  /// What differs between a revision and the files as they are now, in the
  /// repository of the current folder; files that git does not know and does
  /// not ignore have changed in whole.
  static llvm::Expected<ChangedLines> since(llvm::StringRef Revision);

  /// Line: from 1.
  bool contains(llvm::StringRef Path, unsigned Line) const;
  /// It has lines in that file.
  bool touches(llvm::StringRef Path) const;
  /// Files that are C++ sources by their names.
  std::vector<std::string> sources() const;
  /// A file with code that is no source: what includes it changes with it.
  bool touchesHeaders() const;

private:
  struct Lines {
    unsigned First, Last;
  };
  /// By the real path: a repository may be entered through a link.
  std::map<std::string, std::vector<Lines>, std::less<>> Files;
  mutable llvm::StringMap<std::string> RealPaths;
  llvm::StringRef realPath(llvm::StringRef Path) const;
};

/// The top of the repository that the current folder is in; an error where git
/// knows none.
llvm::Expected<std::string> repositoryRoot();

} // namespace torchtidy::tool

#endif
