// Sources that no build file of their tree builds.
#ifndef TORCHTIDY_TOOL_INPUTS_UNBUILT_H
#define TORCHTIDY_TOOL_INPUTS_UNBUILT_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace torchtidy::tool {

/// Those sources of a project that no build file (isBuildFile), no list, script
/// or page of it names, that no pattern of a build file may mean (*.cpp), and
/// that no other source includes: left over, or forgotten. Where the build
/// files name no source of the project nothing is known.
class UnbuiltSources {
public:
  explicit UnbuiltSources(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);

  /// Path is fit to be compared. Reads its project (projectRoot) where no other
  /// of it was asked for before.
  bool contains(llvm::StringRef Path);

private:
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS;
  /// By folder of sources, and by root.
  llvm::StringMap<std::string> Roots;
  llvm::StringMap<llvm::StringSet<>> Unbuilt;
};

} // namespace torchtidy::tool

#endif
