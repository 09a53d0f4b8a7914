#ifndef TORCHTIDY_TOOL_EXPLAIN_H
#define TORCHTIDY_TOOL_EXPLAIN_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorOr.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>

namespace torchtidy::tool {

/// The text of the page of a torch check.
llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>>
readPage(llvm::StringRef Check, llvm::StringRef Executable);
/// The address of LLVM's page of a stock check or of a compiler's warning.
std::string stockPage(llvm::StringRef Check);

/// --explain: the page of a torch check, the address of LLVM's page of a stock
/// check, or "levels". Executable is this program's path. Returns the exit
/// code.
int explain(llvm::StringRef Topic, llvm::StringRef Executable);

} // namespace torchtidy::tool

#endif
