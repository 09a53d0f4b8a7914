// The pages of the checks, which lie beside the program, and what they say in
// short.
#ifndef TORCHTIDY_TOOL_PAGES_H
#define TORCHTIDY_TOOL_PAGES_H

#include "llvm/Support/ErrorOr.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>

namespace torchtidy::tool {

/// Where the page of a torch check is: in the build folder and in an
/// installation at the same place beside the program.
std::string pagePath(llvm::StringRef Check, llvm::StringRef Executable);

/// The text of the page of a torch check.
llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>>
readPage(llvm::StringRef Check, llvm::StringRef Executable);

struct PageSummary {
  /// "Finds optimizer steps in a loop whose gradients nothing clears ..."
  std::string Finds;
  /// "wrong results", "memory grows", "memory peaks", "slow"
  std::string Harm;
  /// It suggests a fix, for some of its findings at least.
  bool HasFix = false;
};

/// Of the first paragraphs of a page, which all have the same form
/// (test/completeness.py).
PageSummary summaryOf(llvm::StringRef Page);

/// The address of LLVM's page of a stock check or of a compiler's warning.
std::string stockPage(llvm::StringRef Check);

} // namespace torchtidy::tool

#endif
