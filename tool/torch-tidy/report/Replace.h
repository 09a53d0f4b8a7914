// Sources that are written anew: what they are, beside their text, stays.
#ifndef TORCHTIDY_TOOL_REPORT_REPLACE_H
#define TORCHTIDY_TOOL_REPORT_REPLACE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <string>
#include <sys/types.h>

namespace torchtidy::tool {

/// The file itself where File is a symbolic link, however many follow each
/// other; else File as it is, for that is how messages name it.
std::string behindLinks(llvm::StringRef File);

/// Replaces the text of a file as a whole, or not at all.
llvm::Error replaceText(llvm::StringRef File, llvm::StringRef Text);

/// LLVM and Clang write a file by putting another in its place, which has
/// nobody's mode. Gives it those that it had when it was added.
class FileModes {
public:
  FileModes() = default;
  ~FileModes() { restore(); }
  FileModes(const FileModes &) = delete;
  FileModes &operator=(const FileModes &) = delete;

  void add(llvm::StringRef File);
  void restore();

private:
  struct Attributes {
    mode_t Mode;
    uid_t User;
    gid_t Group;
  };
  std::map<std::string, Attributes> Known;
};

} // namespace torchtidy::tool

#endif
