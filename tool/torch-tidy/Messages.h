// What the driver itself says, on standard error. Findings go to standard
// output.
#ifndef TORCHTIDY_TOOL_MESSAGES_H
#define TORCHTIDY_TOOL_MESSAGES_H

#include "llvm/Support/WithColor.h"
#include <string>

namespace torchtidy::tool {

inline llvm::raw_ostream &error() {
  return llvm::WithColor::error(llvm::errs(), "torch-tidy");
}
inline llvm::raw_ostream &warning() {
  return llvm::WithColor::warning(llvm::errs(), "torch-tidy");
}
inline llvm::raw_ostream &note() {
  // LLVM's black cannot be read on black. This is what Clang's notes have.
  return llvm::WithColor(llvm::errs() << "torch-tidy: ",
                         llvm::raw_ostream::CYAN, /*Bold=*/true)
             .get()
         << "note: ";
}

/// "1 finding", "2 findings".
inline std::string counted(size_t Number, llvm::StringRef What) {
  return std::to_string(Number) + " " + What.str() + (Number == 1 ? "" : "s");
}

/// What --fail-on=Level says of so many findings.
inline void tellGate(unsigned Count, unsigned Level) {
  llvm::errs() << "torch-tidy: " << counted(Count, "finding") << " of level "
               << Level << (Level ? " or below" : "") << " (--fail-on)\n";
}

} // namespace torchtidy::tool

#endif
