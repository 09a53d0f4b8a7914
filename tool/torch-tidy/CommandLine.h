// What the reading of the command line (Options.cpp) needs beside the options:
// what --help says around them, and what is said of a line in error.
#ifndef TORCHTIDY_TOOL_COMMANDLINE_H
#define TORCHTIDY_TOOL_COMMANDLINE_H

#include "Options.h"
#include "llvm/ADT/StringRef.h"

namespace torchtidy::tool {

/// Before and after the options.
extern const llvm::StringLiteral Overview, Footer;

/// Prints LLVM's words about options that there are not, without the program's
/// name before each line; and what may be meant only where it is near.
void tellUnknown(llvm::StringRef Reason, llvm::StringRef Program);

/// Which options do not go together, and why; empty where all do.
std::string conflictIn(const Options &Given);

} // namespace torchtidy::tool

#endif
