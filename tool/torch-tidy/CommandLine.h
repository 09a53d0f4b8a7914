// What the reading of the command line (Options.cpp) needs beside the options:
// what --help says around them, and what is said of a line in error.
#ifndef TORCHTIDY_TOOL_COMMANDLINE_H
#define TORCHTIDY_TOOL_COMMANDLINE_H

#include "Options.h"
#include "llvm/ADT/StringRef.h"

namespace torchtidy::tool {

/// Before and after the options.
extern const llvm::StringLiteral Overview, Footer;

/// Sets LLVM's options. False for a line in error, which has been said then, in
/// our words: of options that there are not what may be meant only where it is
/// near.
bool parseOptions(int Count, const char *const *Args);

/// While the options are set, LLVM's words about them are held back. Between
/// these they are not, for what prints by itself and may end the program.
void releaseWords();
void holdWords();

/// What a user of ruff looks for in --fix --diff.
void tellOfPreview();

/// Which options do not go together, and why; empty where all do.
std::string conflictIn(const Options &Given);

} // namespace torchtidy::tool

#endif
