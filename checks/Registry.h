// What Checks.def says, as data: for the module, the driver's levels and
// --explain, the documentation index and the tests.
#ifndef TORCHTIDY_REGISTRY_H
#define TORCHTIDY_REGISTRY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace torchtidy {

struct CheckInfo {
  llvm::StringRef Name;
  /// 0 a defect, 1 a measured cost, 2 situational.
  unsigned Level;
  /// The family, which is also the folder of the source files.
  llvm::StringRef Folder;
  /// Of two enabled checks that name one cause at one line, the higher speaks.
  unsigned Priority;
  /// The measure by which the harness confirms a finding.
  llvm::StringRef Evidence;
};

/// All checks, in the order of Checks.def.
llvm::ArrayRef<CheckInfo> registry();

/// The row of a check, or null.
const CheckInfo *findCheck(llvm::StringRef Name);

constexpr unsigned HighestLevel = 2;
/// A check of level 1 that has costs of level 2 among its findings: with the
/// option Minor it tells these, too.
bool tellsMinor(llvm::StringRef Check);
/// What runs when no level is asked for.
constexpr unsigned DefaultLevel = 1;

/// The glob that enables exactly the torch checks up to Level, in the syntax of
/// clang-tidy's -checks, without the leading "-*".
std::string checksUpToLevel(unsigned Level);

} // namespace torchtidy

#endif
