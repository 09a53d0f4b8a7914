// What the driver itself says, on standard error. Findings go to standard
// output.
#ifndef TORCHTIDY_TOOL_MESSAGES_H
#define TORCHTIDY_TOOL_MESSAGES_H

#include "llvm/Support/WithColor.h"

namespace torchtidy::tool {

inline llvm::raw_ostream &error() {
  return llvm::WithColor::error(llvm::errs(), "torch-tidy");
}
inline llvm::raw_ostream &warning() {
  return llvm::WithColor::warning(llvm::errs(), "torch-tidy");
}
inline llvm::raw_ostream &note() {
  return llvm::WithColor::note(llvm::errs(), "torch-tidy");
}

} // namespace torchtidy::tool

#endif
