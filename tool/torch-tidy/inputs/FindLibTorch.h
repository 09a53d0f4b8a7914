// Where LibTorch is on this machine.
#ifndef TORCHTIDY_TOOL_INPUTS_FINDLIBTORCH_H
#define TORCHTIDY_TOOL_INPUTS_FINDLIBTORCH_H

#include "llvm/Support/VirtualFileSystem.h"
#include <string>
#include <vector>

namespace torchtidy::tool {

/// The folder that holds torch/, ATen/ and c10/ with the headers, or an empty
/// string. Looked for, in this order, in: Given (which may be this folder, or
/// one that has it as "include"); $LIBTORCH, $LIBTORCH_PATH, $Torch_DIR and the
/// folders of $CMAKE_PREFIX_PATH; "libtorch" in Root or a folder above it; the
/// package "torch" of the Python on the PATH; /opt/libtorch,
/// /usr/local/libtorch, ~/libtorch; the one that tool/quickstart has fetched;
/// /usr/local/include, /usr/include.
std::string findLibTorch(llvm::StringRef Given, llvm::StringRef Root,
                         llvm::vfs::FileSystem &FS);

/// What Clang needs to find its headers.
std::vector<std::string> libTorchFlags(llvm::StringRef Include,
                                       llvm::vfs::FileSystem &FS);

} // namespace torchtidy::tool

#endif
