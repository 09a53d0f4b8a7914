// --list-checks: which checks there are.
#ifndef TORCHTIDY_TOOL_LISTCHECKS_H
#define TORCHTIDY_TOOL_LISTCHECKS_H

#include "Options.h"
#include "llvm/ADT/ArrayRef.h"

namespace torchtidy::tool {

/// Prints the enabled checks: by name, as clang-tidy does, or with what their
/// pages say of them; as JSON all torch checks, and which are enabled. Returns
/// the exit code.
int listChecks(llvm::ArrayRef<std::string> Enabled, ListStyle Style,
               bool AllowNone, llvm::StringRef Executable);

} // namespace torchtidy::tool

#endif
