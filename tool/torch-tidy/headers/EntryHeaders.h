// Which of LibTorch's headers a source file enters through.
#ifndef TORCHTIDY_TOOL_HEADERS_ENTRYHEADERS_H
#define TORCHTIDY_TOOL_HEADERS_ENTRYHEADERS_H

#include "clang/Frontend/CompilerInvocation.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <string>
#include <vector>

namespace torchtidy::tool {

struct EntryHeaders {
  /// The includes of LibTorch, as they are written ("<torch/torch.h>"): those
  /// of the first file, on the way through the user's headers, that includes
  /// it. The way begins with the files that the command puts before the source
  /// (-include).
  std::vector<std::string> LibTorch;
  /// What stands together with them, with nothing but blanks and comments
  /// between, and is found in a folder of the system: the standard library's,
  /// and third parties'.
  std::vector<std::string> Companions;
  /// The files of the companions.
  std::vector<std::string> CompanionFiles;
};

/// What a precompiled header for this source would hold; nothing where no
/// include of LibTorch is found. Conditions are not looked at: whether the
/// source does include them, and before anything that could matter, only its
/// parse can tell (Doubts.h).
EntryHeaders entryHeaders(llvm::StringRef Source,
                          const clang::CompilerInvocation &Command,
                          llvm::vfs::FileSystem &FS);

/// False where neither the source nor any file that it includes, under whatever
/// condition, includes LibTorch or names anything of its namespaces: no check
/// has anything to say of it. A file that cannot be found counts as such.
bool mayUseLibTorch(llvm::StringRef Source,
                    const clang::CompilerInvocation &Command,
                    llvm::vfs::FileSystem &FS);

} // namespace torchtidy::tool

#endif
