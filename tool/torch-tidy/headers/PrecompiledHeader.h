// Precompiled headers without the function bodies that no check reads.
#ifndef TORCHTIDY_TOOL_HEADERS_PRECOMPILEDHEADER_H
#define TORCHTIDY_TOOL_HEADERS_PRECOMPILEDHEADER_H

#include "clang/Frontend/CompilerInvocation.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <string>
#include <vector>

namespace torchtidy::tool {

/// The part of a compile command that all source files of a target share: what
/// a precompiled header may depend on. Two commands with equal text may share
/// one.
std::shared_ptr<clang::CompilerInvocation>
sharedPart(const clang::CompilerInvocation &Command);

/// Sets the options that a source which uses such a header must have in common
/// with it.
void useSharedOptions(clang::CompilerInvocation &Command);

struct PrecompiledHeaderResult {
  /// Why there is none; empty when it was made.
  std::string Failure;
  /// The files that the includes were found in.
  std::vector<std::string> Entries;
};

/// Compiles Header, which holds nothing but includes, to Output.
PrecompiledHeaderResult
precompile(const clang::CompilerInvocation &Command, llvm::StringRef Header,
           llvm::StringRef Output,
           llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);

} // namespace torchtidy::tool

#endif
