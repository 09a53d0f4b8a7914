// What a build folder was configured with.
#ifndef TORCHTIDY_CONFIRM_FIX_CMAKECACHE_H
#define TORCHTIDY_CONFIRM_FIX_CMAKECACHE_H

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace torchtidy::confirm::fix {

class CMakeCache {
public:
  struct Entry {
    /// "BOOL", "PATH", "INTERNAL"
    std::string Type, Value;
  };

  /// Of the text of a CMakeCache.txt.
  explicit CMakeCache(const std::string &Text);

  /// The value of an entry of any type; empty where there is none.
  std::string value(const std::string &Name) const;
  /// A script for cmake's -C that sets the entries of the user and of the
  /// project, but not what CMake keeps for itself or has looked for in vain.
  /// Map: what becomes of a value.
  std::string
  script(const std::function<std::string(const std::string &)> &Map) const;

private:
  std::map<std::string, Entry> Entries;
};

/// Replaces a folder by another one wherever a text names it or what is in it.
/// Keep: whether a path stays as it is, given the whole of it.
std::string withFolder(const std::string &Text, const std::string &From,
                       const std::string &To,
                       const std::function<bool(const std::string &)> &Keep);

} // namespace torchtidy::confirm::fix

#endif
