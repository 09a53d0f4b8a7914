// Names that no check has, and what may have been meant.
#ifndef TORCHTIDY_TOOL_CHECKNAMES_H
#define TORCHTIDY_TOOL_CHECKNAMES_H

#include "Registry.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include <string>
#include <vector>

namespace torchtidy::tool {

/// The name in Known that is spelt most like Name, or an empty string.
llvm::StringRef closestName(llvm::StringRef Name,
                            const llvm::StringSet<> &Known);

/// The same, where "torch-" may have been left out.
std::string closestCheck(llvm::StringRef Name, const llvm::StringSet<> &Known);

/// The torch check of that name, with or without "torch-"; null where there is
/// none.
const CheckInfo *findCheckByName(llvm::StringRef Name);

/// The same globs, where each name of a torch check begins with "torch-":
/// "-*,missing-zero-grad" is "-*,torch-missing-zero-grad".
std::string withPrefixes(llvm::StringRef Globs);

struct UnknownItem {
  std::string Text;
  /// What may have been meant, or an empty string.
  std::string Closest;
  bool isGlob() const { return Text.find('*') != std::string::npos; }
};

/// The items of a 'Checks' value that match no check.
std::vector<UnknownItem> unknownItems(llvm::StringRef Globs,
                                      const llvm::StringSet<> &Known);

/// clang-tidy takes a misspelt name in --checks without a word, and checks
/// nothing: warn.
void warnOfUnknownChecks(llvm::StringRef Globs, const llvm::StringSet<> &Known);

} // namespace torchtidy::tool

#endif
