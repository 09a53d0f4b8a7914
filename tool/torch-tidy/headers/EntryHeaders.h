// Which of LibTorch's headers a source file enters through.
#ifndef TORCHTIDY_TOOL_HEADERS_ENTRYHEADERS_H
#define TORCHTIDY_TOOL_HEADERS_ENTRYHEADERS_H

#include "clang/Frontend/CompilerInvocation.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <string>
#include <vector>

namespace torchtidy::tool {

/// The includes, as they are written ("<torch/torch.h>"), that a precompiled
/// header for this source would hold: those of the first file, on the way
/// through the user's headers, that includes LibTorch. The way begins with the
/// files that the command puts before the source (-include). Empty where none
/// is found. Conditions are not looked at: whether the source does include
/// them, and before anything that could matter, only its parse can tell
/// (Doubts.h).
std::vector<std::string> entryHeaders(llvm::StringRef Source,
                                      const clang::CompilerInvocation &Command,
                                      llvm::vfs::FileSystem &FS);

} // namespace torchtidy::tool

#endif
