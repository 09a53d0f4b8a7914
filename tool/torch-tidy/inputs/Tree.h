// The files of a source tree.
#ifndef TORCHTIDY_TOOL_INPUTS_TREE_H
#define TORCHTIDY_TOOL_INPUTS_TREE_H

#include "llvm/Support/VirtualFileSystem.h"
#include <string>
#include <vector>

namespace torchtidy::tool {

/// Of an empty path an empty one.
std::string absolutePath(llvm::StringRef Path);
/// Also without "." and "..": fit to be compared. Where ".." follows a symbolic
/// link it may be another file: not fit to be opened.
std::string comparablePath(llvm::StringRef Path);

/// The path that a name stands for in Folder: itself where it is absolute.
std::string absoluteIn(llvm::StringRef Folder, llvm::StringRef Path);

/// Path from Root, for what lies below it; empty for others. Both are fit to be
/// compared.
std::string relativeTo(llvm::StringRef Root, llvm::StringRef Path);

/// Folder and Name as one path.
std::string below(llvm::StringRef Folder, const llvm::Twine &Name);

/// All files below a folder, sorted, but for those that no project counts as
/// its own: what is hidden, and what CMake or Meson has made. Ends early in a
/// tree of more than MaxFiles.
std::vector<std::string> filesBelow(llvm::StringRef Folder,
                                    llvm::vfs::FileSystem &FS,
                                    size_t MaxFiles = 100000);

/// Folders in a folder, sorted.
std::vector<std::string> foldersIn(llvm::StringRef Folder,
                                   llvm::vfs::FileSystem &FS);

/// The folders of builds in Folder that have a file of this name: those with a
/// name that is usual for one ("build*", "cmake-build*", "_build", "out"), and
/// what lies in them up to two folders deep (out/build/x64-Debug), each down to
/// the first with such a file.
std::vector<std::string> buildFolders(llvm::StringRef Folder,
                                      llvm::StringRef File,
                                      llvm::vfs::FileSystem &FS);

/// The project that a folder belongs to: the nearest folder at or above it that
/// is a checkout (.git), else the outermost with a CMakeLists.txt, else itself.
std::string projectRoot(llvm::StringRef Folder, llvm::vfs::FileSystem &FS);

/// A C++ source file by its name: .cpp, .cc, .cxx, .c++, .C.
bool isSourceName(llvm::StringRef Path);

/// A file of a build system by its name: CMakeLists.txt, Makefile, meson.build,
/// *.vcxproj, setup.py and the like.
bool isBuildFile(llvm::StringRef Path);

/// Whether a file may have code that includes or calls what a C++ source has,
/// by its name: C++, what it includes, and languages whose words a C++ lexer
/// knows (CUDA, Objective-C, Cython, OpenCL).
bool isCode(llvm::StringRef Path);

/// Of filesBelow(), the C++ source files.
std::vector<std::string> sourcesBelow(llvm::StringRef Folder,
                                      llvm::vfs::FileSystem &FS);

} // namespace torchtidy::tool

#endif
