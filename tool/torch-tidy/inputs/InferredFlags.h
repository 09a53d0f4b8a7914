// Compile flags for a source tree that was never configured: a guess that is
// good enough to analyse most of it.
#ifndef TORCHTIDY_TOOL_INPUTS_INFERREDFLAGS_H
#define TORCHTIDY_TOOL_INPUTS_INFERREDFLAGS_H

#include "inputs/FindLibTorch.h"
#include "clang/Tooling/CompilationDatabase.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <map>
#include <memory>
#include <string>

namespace torchtidy::tool {

struct InferredFlags {
  std::unique_ptr<clang::tooling::CompilationDatabase> Database;
  /// The folder that is taken for the project's root.
  std::string Root;
  FoundLibTorch LibTorch;
  /// 17, 20, 23 or 26.
  unsigned Standard = 17;
  /// The macros that build files of the tree define, whatever for: "X" to "X"
  /// or "X=1", as after -D.
  std::map<std::string, std::string> Definitions;
};

/// For the project that Folder belongs to (projectRoot). LibTorch: where it is,
/// BuildFolder: a build of it, if these are known.
///
/// The language standard is the newest that a build file of the tree names, at
/// least C++17. An include that leads nowhere leads to the file of the tree
/// whose path ends with it, the nearest where there are several, or to the
/// subfolder of /usr/include or /usr/local/include that has it.
InferredFlags inferFlags(llvm::StringRef Folder, llvm::StringRef LibTorch,
                         llvm::StringRef BuildFolder,
                         llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);

} // namespace torchtidy::tool

#endif
