#ifndef TORCHTIDY_TOOL_EXPLAIN_H
#define TORCHTIDY_TOOL_EXPLAIN_H

#include "llvm/ADT/StringRef.h"

namespace torchtidy::tool {

/// --explain: the page of a torch check, with or without "torch-", the address
/// of LLVM's page of a stock check, or "levels". Executable is this program's
/// path. Returns the exit code.
int explain(llvm::StringRef Topic, llvm::StringRef Executable);

} // namespace torchtidy::tool

#endif
