// entry.json of the cache of headers, with all the files beside it that it may
// name: empty ones.
#include "Input.h"
#include "headers/HeaderCache.h"

namespace torchtidy::tool {

// Of those that make entries; here they are read.
std::shared_ptr<clang::CompilerInvocation>
sharedPart(const clang::CompilerInvocation &, llvm::vfs::FileSystem &) {
  abort();
}
std::vector<std::string> foldersBeside(const clang::CompilerInvocation &,
                                       llvm::vfs::FileSystem &) {
  abort();
}
PrecompiledHeaderResult
precompile(const clang::CompilerInvocation &, llvm::StringRef, Bodies,
           llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>, llvm::StringRef,
           llvm::StringRef, std::vector<std::string>,
           std::vector<std::string>) {
  abort();
}

} // namespace torchtidy::tool

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  static const std::string Key = "0123456789abcdef0123456789abcdef";
  static const Folder Cache;
  static const std::string Entry = "headers/" + Key + "/";
  static const bool IsMade = [] {
    for (const char *Name : {"graph", "header.pch", "input.h"})
      Cache.write(Entry + Name, "");
    return true;
  }();
  (void)IsMade;
  Cache.write(Entry + "entry.json", Cache.named(Data, Size));
  torchtidy::tool::HeaderCache(
      {Cache.path(""), uint64_t(4) << 30, "/proc/self/exe"})
      .isCurrent(Key, "2d06800538d394c2");
  return 0;
}
