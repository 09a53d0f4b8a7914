// The folder of the cache of headers, in which others write too: who may have
// made what lies there, who is at work there now, and what may be removed.
#ifndef TORCHTIDY_TOOL_CACHE_CACHEFOLDER_H
#define TORCHTIDY_TOOL_CACHE_CACHEFOLDER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <sys/types.h>
#include <system_error>

namespace torchtidy::tool {

std::string inFolder(llvm::StringRef Folder, llvm::StringRef Name);

/// Writes the file as a whole, or not at all. Nobody but its owner can write it
/// then, whatever the umask.
std::error_code writeWhole(llvm::StringRef Path, llvm::StringRef Text);

/// The content of a file; null for what is none (a pipe would never end) and
/// where it cannot be read.
std::unique_ptr<llvm::MemoryBuffer> readFile(const std::string &Path);

/// Whether what lies at Path is to be believed: a file or folder, no link, that
/// this user, root, or the owner of Shared has made, and that nobody else can
/// write, its group neither. Shared is the folder of all entries: who names a
/// folder that somebody else owns, and only that one can write, trusts its
/// owner.
bool isTrusted(const std::string &Path, const std::string &Shared);

/// Makes Folder, and those above it, where it is not there. Why it is not to be
/// used, and what to do about it; empty where it can be.
std::string makeFolder(const std::string &Folder, const std::string &Shared);

/// The same, and marks it as this program's own. A folder that was there is
/// taken where it has the mark, or nothing in it that IsOurs does not know by
/// its path.
std::string claimFolder(const std::string &Folder, const std::string &Shared,
                        llvm::function_ref<bool(llvm::StringRef)> IsOurs);

/// Says that what lies at Path, or beside it, was used now; makes the file
/// where it is not there. A cache that cannot be written cannot forget either.
void markUsed(const std::string &Path);

/// Held as long as the object lives. The kernel lets go of it when its holder
/// ends, however it ends.
class EntryLock {
public:
  /// Called once, when the wait for another holder has taken some seconds: its
  /// process, or 0 where that is not known.
  using Waits = std::function<void(pid_t Holder)>;

  /// Of the entry in this folder, which it marks as one. Waits for another
  /// holder, but not for longer than Patience, and not for one that is stopped.
  EntryLock(llvm::StringRef Entry, std::chrono::seconds Patience,
            const Waits &OnWait);
  ~EntryLock();
  EntryLock(const EntryLock &) = delete;
  EntryLock &operator=(const EntryLock &) = delete;

  /// Why it is not held, and by whom it is; empty where it is held.
  const std::string &failure() const { return Failure; }

private:
  int Descriptor = -1;
  std::string Failure;
};

/// Whether an entry, or what is kept, may have this name: it is a hash.
bool isNameOfEntry(llvm::StringRef Name);

/// Whether writeWhole() has left this, because its process was killed. Name
/// becomes that of the file which was written.
bool isPart(llvm::StringRef &Name);

/// Whether this folder may be an entry, by its name and its files: one that
/// another process begins to make has none yet.
bool mayBeEntry(llvm::StringRef Folder);

/// Removes the files of the entry in this folder, but for its lock: what a
/// process that was killed has left, and what is not good any more. Others
/// stay.
void clearEntry(llvm::StringRef Folder);

/// Removes the entries of Folder that were not used for longest, until all
/// together take no more than MaxBytes. Kept stay, and so does what is no entry
/// in each respect: its name, its files, its mark, its owner.
void evictEntries(llvm::StringRef Folder, llvm::ArrayRef<llvm::StringRef> Kept,
                  uint64_t MaxBytes);

/// Removes the files of Folder that were not used for longest, until all
/// together take no more than MaxBytes: those that IsOurs knows by their path,
/// that are no links and belong to this user.
void evictFiles(llvm::StringRef Folder,
                llvm::function_ref<bool(llvm::StringRef)> IsOurs,
                uint64_t MaxBytes);

} // namespace torchtidy::tool

#endif
