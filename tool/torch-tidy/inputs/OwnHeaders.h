// Clang's own headers, where they lie beside the program.
#ifndef TORCHTIDY_TOOL_INPUTS_OWNHEADERS_H
#define TORCHTIDY_TOOL_INPUTS_OWNHEADERS_H

#include "clang/Tooling/CompilationDatabase.h"
#include <memory>
#include <string>

namespace torchtidy::tool {

/// The resource directory that a package brings with it; empty without one.
/// Clang would look in lib/clang/19 beside the program's folder, which in an
/// environment belongs to the Clang that is installed there.
std::string ownResourceDir(llvm::StringRef Executable);

/// The same commands with that directory, unless they name one.
std::unique_ptr<clang::tooling::CompilationDatabase>
withResourceDir(std::unique_ptr<clang::tooling::CompilationDatabase> Commands,
                std::string ResourceDir);

} // namespace torchtidy::tool

#endif
