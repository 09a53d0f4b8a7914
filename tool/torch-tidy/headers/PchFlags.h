// Precompiled headers for those who stay with stock clang-tidy.
#ifndef TORCHTIDY_TOOL_HEADERS_PCHFLAGS_H
#define TORCHTIDY_TOOL_HEADERS_PCHFLAGS_H

#include "headers/HeaderCache.h"
#include "clang/Tooling/CompilationDatabase.h"

namespace torchtidy::tool {

/// Makes the precompiled header, with bodies, that fits most of the sources,
/// and prints the options that make clang-tidy 19 use it, in one line on
/// standard output. Returns the exit code; what goes wrong has been told.
int printPchFlags(const clang::tooling::CompilationDatabase &Database,
                  llvm::ArrayRef<std::string> Sources,
                  const HeaderCacheSettings &Settings,
                  llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> FS);

} // namespace torchtidy::tool

#endif
