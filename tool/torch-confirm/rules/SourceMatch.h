// Which file of a recording a finding means: programs are built elsewhere,
// moved, or built from relative paths.
#ifndef TORCHTIDY_CONFIRM_RULES_SOURCEMATCH_H
#define TORCHTIDY_CONFIRM_RULES_SOURCEMATCH_H

#include "recording/Recording.h"
#include <map>
#include <optional>
#include <set>

namespace torchtidy::confirm {

class SourceMatch {
public:
  explicit SourceMatch(const Recording &Run);

  /// As the recording names it; nothing where it has no such file.
  ///
  /// The same path, or the same file by another path. Else the one whose path
  /// has the most last parts in common, at least two, if only one has as many,
  /// and unless both files are there: then they are different files.
  std::optional<std::string> find(const std::string &File) const;

private:
  std::optional<std::string> search(const std::string &File) const;

  std::set<std::string> Files;
  mutable std::map<std::string, std::optional<std::string>> Known;
};

} // namespace torchtidy::confirm

#endif
