// Sources that no build file of their tree builds.
#ifndef TORCHTIDY_TOOL_INPUTS_UNBUILT_H
#define TORCHTIDY_TOOL_INPUTS_UNBUILT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <string>

namespace torchtidy::tool {

/// Those of Sources that no build file (CMakeLists.txt, Makefile, meson.build
/// and the like), no list, script or page of the project names, that no pattern
/// of a build file may mean (*.cpp), and that no other source includes: left
/// over, or forgotten. Where the build files name none of these Sources nothing
/// is known.
llvm::StringSet<> unbuiltSources(llvm::ArrayRef<std::string> Sources,
                                 llvm::vfs::FileSystem &FS);

} // namespace torchtidy::tool

#endif
