// What an analysis has asked of the file system, and whether it would be told
// the same again.
#ifndef TORCHTIDY_TOOL_CACHE_READS_H
#define TORCHTIDY_TOOL_CACHE_READS_H

#include "cache/Inputs.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <map>
#include <set>
#include <string>
#include <vector>

namespace torchtidy::tool {

/// As it was: contents by their hash, names by whether they were there.
struct Reads {
  /// A file whose content was read.
  struct File {
    std::string Path;
    /// stampOf(); empty where the file had just been written, so that a later
    /// write might leave it as it is: the content decides then.
    std::string Stamp;
    std::string Hash;
  };
  /// Names that were looked for in a folder; what else lies in it does not
  /// matter.
  struct Folder {
    std::string Path;
    /// As that of a file.
    std::string Stamp;
    /// All of them, with slashes between, and those that were there, as
    /// addPresent() has them.
    std::string Names, Present;
  };
  /// A folder of which everything was asked for.
  struct Listing {
    std::string Path;
    /// As that of a file.
    std::string Stamp;
    std::string Hash;
  };
  std::vector<File> Files;
  std::vector<Folder> Folders;
  std::vector<Listing> Listings;
  /// Something has changed while it was read: what was made of it is of no use
  /// to anybody else.
  bool IsUnsteady = false;
};

template <class Stream> void visit(Stream &S, Reads &All) {
  S.list(All.Files, [&](Reads::File &Each) {
    S.text(Each.Path);
    S.text(Each.Stamp);
    S.text(Each.Hash);
  });
  S.list(All.Folders, [&](Reads::Folder &Each) {
    S.text(Each.Path);
    S.text(Each.Stamp);
    S.text(Each.Names);
    S.text(Each.Present);
  });
  S.list(All.Listings, [&](Reads::Listing &Each) {
    S.text(Each.Path);
    S.text(Each.Stamp);
    S.text(Each.Hash);
  });
  S.integer(All.IsUnsteady);
}

/// Says whether all is as it was. One for a run: what it has looked at once it
/// does not look at again.
class Unchanged {
public:
  bool operator()(const Reads &All);

private:
  const std::string &stamp(const std::string &Path);
  bool isSame(const Reads::File &Each);
  bool isSame(const Reads::Folder &Each);
  bool isSame(const Reads::Listing &Each);

  llvm::StringMap<std::string> Stamps, Hashes, ListingHashes;
};

/// Notes what every LoggedFileSystem of this process is asked while it lives.
/// At most one lives at a time.
class ReadLog {
public:
  /// What lies in an entry of this cache is not noted: who uses one says which.
  explicit ReadLog(llvm::StringRef Cache);
  ~ReadLog();
  ReadLog(const ReadLog &) = delete;
  ReadLog &operator=(const ReadLog &) = delete;

  /// While one lives, nothing is noted.
  class Pause {
  public:
    Pause();
    ~Pause();
    Pause(const Pause &) = delete;
    Pause &operator=(const Pause &) = delete;
  };

  /// The one that notes now; null where none does.
  static ReadLog *current();

  void lookedFor(llvm::StringRef Path, Kind What);
  /// All of Names were, at once.
  void lookedFor(llvm::StringRef Folder, const llvm::StringSet<> &Names,
                 const llvm::StringSet<> &Present);
  void listed(llvm::StringRef Folder);
  /// Stamp: of before it was opened.
  void read(llvm::StringRef Path, std::string Stamp, llvm::StringRef Content);

  /// Nothing has been asked of this file so far.
  void forget(llvm::StringRef Path);

  Reads take();

private:
  bool isIgnored(llvm::StringRef Path) const;

  /// The folder of the entries, with a slash at its end.
  std::string Entries;
  std::map<std::string, Reads::File> Files;
  /// By folder: each name, and what was there.
  std::map<std::string, std::map<std::string, Kind>> Folders;
  std::map<std::string, Reads::Listing> Listings;
  /// Those whose names came at once.
  llvm::StringSet<> Whole;
  bool IsUnsteady = false;
};

/// The file system below it, with a note of what it is asked.
class LoggedFileSystem
    : public llvm::RTTIExtends<LoggedFileSystem, llvm::vfs::ProxyFileSystem> {
public:
  static const char ID;
  using RTTIExtends::RTTIExtends;

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine &Path) override;
  bool exists(const llvm::Twine &Path) override;
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>>
  openFileForRead(const llvm::Twine &Path) override;
  llvm::vfs::directory_iterator dir_begin(const llvm::Twine &Folder,
                                          std::error_code &Failure) override;

private:
  std::string absolute(const llvm::Twine &Path) const;
};

} // namespace torchtidy::tool

#endif
