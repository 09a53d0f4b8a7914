// Functions and classes that no line of a source tree names: nobody bears their
// cost.
#ifndef TORCHTIDY_TOOL_RUN_UNNAMED_H
#define TORCHTIDY_TOOL_RUN_UNNAMED_H

#include "run/Runner.h"

namespace torchtidy::tool {

/// Takes out what was found in functions and classes that no line of the source
/// trees of Sources names, but for lines of such code itself; often the only
/// call is commented out. Says on standard error how much it was, and what of
/// level 0. A tree without main() has its callers elsewhere, and so have a
/// header in a folder "include", slots of Qt, and what SWIG wraps: these stay.
void dropUnnamed(RunResult &Whole, llvm::ArrayRef<std::string> Sources,
                 llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> System);

} // namespace torchtidy::tool

#endif
