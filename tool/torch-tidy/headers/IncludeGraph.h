// Which file includes which, in a precompiled header.
#ifndef TORCHTIDY_TOOL_HEADERS_INCLUDEGRAPH_H
#define TORCHTIDY_TOOL_HEADERS_INCLUDEGRAPH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace torchtidy::tool {

/// Files by their names, as Clang finds them. An include that is skipped, since
/// the file has been included before, counts as well.
class IncludeGraph {
public:
  void add(llvm::StringRef From, llvm::StringRef To);
  /// Whether To is one of From, or included by one of them, or by what that
  /// includes.
  bool reaches(llvm::ArrayRef<std::string> From, llvm::StringRef To) const;

  std::string encode() const;
  /// Adds what encode() has made; nothing of what it has not.
  void decode(llvm::StringRef Bytes);

private:
  unsigned numberOf(llvm::StringRef Name);

  llvm::StringMap<unsigned> Numbers;
  std::vector<std::string> Names;
  std::vector<std::set<unsigned>> Included;
};

} // namespace torchtidy::tool

#endif
