// The folder of precompiled headers that all processes of a user share.
#ifndef TORCHTIDY_TOOL_HEADERS_HEADERCACHE_H
#define TORCHTIDY_TOOL_HEADERS_HEADERCACHE_H

#include "headers/EntryHeaders.h"
#include "headers/PrecompiledHeader.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace torchtidy::tool {

struct HeaderCacheSettings {
  /// Empty: no cache.
  std::string Folder;
  /// The oldest entries go when all together are larger.
  uint64_t MaxBytes = uint64_t(4) << 30;
  /// The program that makes the entries; another one makes others.
  std::string Executable;
};

/// $TORCH_TIDY_CACHE or the user's cache folder; empty where there is none.
std::string defaultCacheFolder();

/// What can go wrong with a cache costs time and nothing else: an entry that
/// cannot be read, written or trusted is one that is not there.
///
/// An entry is a folder, named by a hash of all that can change its meaning:
/// the compile command but for what is a source file's own, the includes, the
/// program. It holds header.h, the precompiled header, and, written last,
/// entry.json with the hash of that, what is known of all files that went into
/// it, and what was looked for where: another content, or a header that would
/// be found now and was not, makes the entry stale (Inputs.h). Only entries of
/// users that are trusted are read (CacheFolder.h).
class HeaderCache {
public:
  /// Reads the program, so that processes which are forked later need not.
  explicit HeaderCache(HeaderCacheSettings Given);

  struct Entry {
    /// For -include-pch.
    std::string Path;
    /// Of its content.
    std::string Hash;
    /// The files that its includes are.
    std::vector<std::string> Files;
    /// All files that it was made of.
    std::vector<std::string> Inputs;
    /// The first parts of all names that it asks for ("ATen"), found or not; of
    /// one that begins with "..", all of it.
    std::vector<std::string> Asked;
    /// Of the entries that it consists of, which file includes which:
    /// IncludeGraphs, encoded.
    std::vector<std::string> Graphs;
    /// Of the entries that it consists of, the key and the hash.
    std::vector<std::pair<std::string, std::string>> Parts;
  };

  /// The entry for a source file's command and its includes, made when it is
  /// not there. Where another process is making it, waits for that, two minutes
  /// at most.
  std::optional<Entry> get(const clang::CompilerInvocation &Command,
                           llvm::ArrayRef<std::string> Includes,
                           llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS,
                           Bodies Which = Bodies::Skipped);

  /// Base: of the first of the source's includes of LibTorch. An entry that
  /// goes on from it with the others, and one that goes on from that with
  /// LibTorch's companions, as far as they are not in it: small ones, quickly
  /// made. Base itself where there are none, or where they would have changed
  /// what Base was made of.
  Entry extend(Entry Base, const clang::CompilerInvocation &Command,
               const EntryHeaders &Includes,
               llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);

  /// Whether the entry of this key still has this hash, and what it was made of
  /// has not changed. It is looked at once: later the answer is that of before.
  bool isCurrent(const std::string &Key, llvm::StringRef Hash);
  /// Looks at the entry of this key now, so that processes which are forked
  /// later need not.
  void look(const std::string &Key);
  /// Says which program makes the entries; empty where there is no cache.
  const std::string &programHash() const { return ProgramHash; }

  /// The same text for sources of one command that extend() gives the same
  /// entry.
  static std::string extensionKey(const llvm::StringSet<> &BaseInputs,
                                  const EntryHeaders &Includes);

  /// The declarations of this entry that sources have read, for processes that
  /// come later. None where nobody has said.
  std::vector<uint64_t> declarationsRead(const Entry &Of) const;
  void setDeclarationsRead(const Entry &Of,
                           std::vector<uint64_t> Declarations) const;

  /// The same text for those that share an entry.
  std::string key(const clang::CompilerInvocation &Command,
                  llvm::ArrayRef<std::string> Includes, Bodies Which,
                  llvm::vfs::FileSystem &FS, const Entry *Base = nullptr) const;

  /// Called when another process makes an entry that is asked for, and takes
  /// its time: its number, or 0.
  std::function<void(pid_t)> OnWait;

  /// Why the cache was of no use, when that is news; empty otherwise.
  std::string takeTrouble() { return std::move(Trouble); }

private:
  Entry goOn(Entry Base, const clang::CompilerInvocation &Command,
             llvm::ArrayRef<std::string> Includes,
             llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);
  /// Entry: of which Path is empty where it is known to be of no use.
  std::optional<Entry> read(llvm::StringRef Folder) const;
  std::optional<Entry> readOnce(llvm::StringRef Folder) const;
  std::optional<Entry>
  makeOnce(llvm::StringRef Folder, const clang::CompilerInvocation &Command,
           llvm::ArrayRef<std::string> Includes, Bodies Which,
           llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS,
           const Entry *Base);
  std::optional<Entry> make(llvm::StringRef Folder,
                            const clang::CompilerInvocation &Command,
                            llvm::ArrayRef<std::string> Includes, Bodies Which,
                            llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS,
                            const Entry *Base);
  /// False, and the trouble told, where it fails.
  bool write(const std::string &Path, llvm::StringRef Text);
  /// A folder of the command's that the entry knows nothing of has what it asks
  /// for.
  bool isHidden(const Entry &Found, const clang::CompilerInvocation &Command,
                llvm::vfs::FileSystem &FS);
  void trouble(const llvm::Twine &What) {
    if (Trouble.empty() && !IsTold)
      Trouble = What.str();
    IsTold = true;
  }

  std::string folderOf(llvm::StringRef Key) const;

  HeaderCacheSettings Settings;
  std::string ProgramHash;
  /// By folder: what isCurrent() has found, for the processes that are forked
  /// later. Empty where there is none.
  std::map<std::string, std::optional<Entry>> Known;
  std::string Trouble;
  bool IsTold = false;
};

} // namespace torchtidy::tool

#endif
