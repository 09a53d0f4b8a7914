// Where LibTorch is on this machine.
#ifndef TORCHTIDY_TOOL_INPUTS_FINDLIBTORCH_H
#define TORCHTIDY_TOOL_INPUTS_FINDLIBTORCH_H

#include "llvm/Support/VirtualFileSystem.h"
#include <string>
#include <vector>

namespace torchtidy::tool {

/// The front end lies in a folder of its own, in Debian's package too.
constexpr llvm::StringLiteral FrontEnd = "torch/csrc/api/include";

struct FoundLibTorch {
  /// The folder that holds torch/, ATen/ and c10/ with the headers; empty where
  /// none was found.
  std::string Include;
  /// Then: where it was looked for, in words.
  std::vector<std::string> Places;
};

/// Given (which may be that folder, or one that has it as "include") stands for
/// all other places. They are, in this order: $LIBTORCH, $LIBTORCH_PATH,
/// $Torch_DIR and the folders of $CMAKE_PREFIX_PATH; what CMake has found, or
/// was told, where the project is configured (Torch_DIR, which may be what
/// Conan has written, and CMAKE_PREFIX_PATH in the CMakeCache.txt of
/// BuildFolder, if that is named, and of build folders in From and above it, up
/// to Root, the project's); "libtorch" in From, where the sources are, or a
/// folder above it; the package "torch" of
/// the environment that is active ($VIRTUAL_ENV, $CONDA_PREFIX, which may hold
/// LibTorch itself), of ".venv" or "venv" in From or above it, of the
/// environment that this program is installed in, of the Python on the PATH;
/// what pkg-config knows as libtorch or torch; workspaces of ROS
/// ($AMENT_PREFIX_PATH); /opt/libtorch, /usr/local/libtorch, ~/libtorch; the
/// one that tool/quickstart has fetched; /usr/local/include, /usr/include.
FoundLibTorch findLibTorch(llvm::StringRef Given, llvm::StringRef From,
                           llvm::StringRef Root, llvm::StringRef BuildFolder,
                           llvm::vfs::FileSystem &FS);

/// What Clang needs to find its headers.
std::vector<std::string> libTorchFlags(llvm::StringRef Include,
                                       llvm::vfs::FileSystem &FS);

} // namespace torchtidy::tool

#endif
