// Places in sources as other tools count them.
#ifndef TORCHTIDY_TOOL_REPORT_SOURCETEXT_H
#define TORCHTIDY_TOOL_REPORT_SOURCETEXT_H

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <memory>
#include <vector>

namespace torchtidy::tool {

/// Both from 1. Columns are Unicode code points, where Clang's are bytes.
struct SourcePlace {
  unsigned Line = 1, Column = 1;
};

/// The text of one file; empty for one that cannot be read.
class SourceText {
public:
  explicit SourceText(std::unique_ptr<llvm::MemoryBuffer> Given);

  SourcePlace place(unsigned Offset) const;
  /// Without its end of line.
  llvm::StringRef line(unsigned Number) const;

private:
  std::unique_ptr<llvm::MemoryBuffer> Text;
  std::vector<unsigned> Starts;
};

/// Each file is read once.
class SourceTexts {
public:
  explicit SourceTexts(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS)
      : FS(std::move(FS)) {}
  const SourceText &of(llvm::StringRef Path);

private:
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS;
  llvm::StringMap<std::unique_ptr<SourceText>> Known;
};

} // namespace torchtidy::tool

#endif
