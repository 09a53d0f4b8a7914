#include "cache/Reads.h"
#include "cache/CacheFolder.h"
#include "cache/Inputs.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <chrono>
#include <sys/stat.h>

using namespace llvm;

namespace torchtidy::tool {
namespace {

/// The names in a list: none has a slash.
constexpr char Separator = '/';

/// The clock of a file system ticks slowly, and on another machine than ours.
constexpr std::chrono::seconds Tick{2};

ReadLog *Current = nullptr;
unsigned Paused = 0;

/// What was written so lately that the next write may have the same time.
bool isRecent(const std::string &Path) {
  struct stat Status;
  if (::stat(Path.c_str(), &Status))
    return true;
  const auto Changed = std::chrono::seconds(Status.st_ctim.tv_sec);
  return std::chrono::system_clock::now().time_since_epoch() - Changed <=
         Tick + std::chrono::seconds(1);
}

/// The names in it, sorted, with a slash behind each.
std::string namesInFolder(StringRef Folder) {
  std::set<std::string> Names;
  std::error_code Failure;
  for (sys::fs::directory_iterator It(Folder, Failure), End;
       It != End && !Failure; It.increment(Failure))
    Names.insert(sys::path::filename(It->path()).str());
  std::string Result;
  for (const std::string &Name : Names)
    (Result += Name) += Separator;
  return Result;
}

/// Those of Names that are there now, as Reads::Folder has them.
std::string presentNow(const std::string &Folder, StringRef Names) {
  std::string Result;
  SmallVector<StringRef, 64> Each;
  Names.split(Each, Separator, /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  // To ask for hundreds takes longer than to read what is there.
  constexpr size_t Few = 16;
  StringSet<> There;
  if (Each.size() > Few) {
    std::error_code Failure;
    for (sys::fs::directory_iterator It(Folder, Failure), End;
         It != End && !Failure; It.increment(Failure))
      There.insert(sys::path::filename(It->path()));
  }
  for (const StringRef Name : Each)
    if (Each.size() <= Few || There.contains(Name))
      addPresent(Name, kindOf(inFolder(Folder, Name)), Result);
  return Result;
}

} // namespace

const std::string &Unchanged::stamp(const std::string &Path) {
  const auto [It, IsNew] = Stamps.try_emplace(Path);
  if (IsNew)
    It->second = stampOf(Path);
  return It->second;
}

bool Unchanged::isSame(const Reads::File &Each) {
  const std::string &Now = stamp(Each.Path);
  if (Now.empty())
    return false;
  if (!Each.Stamp.empty()) {
    if (Now == Each.Stamp)
      return true;
    // Another size is another content.
    if (StringRef(Now).split(':').first !=
        StringRef(Each.Stamp).split(':').first)
      return false;
  }
  const auto [It, IsNew] = Hashes.try_emplace(Each.Path);
  if (IsNew)
    It->second = hashOfFile(Each.Path);
  return It->second == Each.Hash;
}

bool Unchanged::isSame(const Reads::Folder &Each) {
  if (!Each.Stamp.empty() && stamp(Each.Path) == Each.Stamp)
    return true;
  return presentNow(Each.Path, Each.Names) == Each.Present;
}

bool Unchanged::isSame(const Reads::Listing &Each) {
  if (!Each.Stamp.empty() && stamp(Each.Path) == Each.Stamp)
    return true;
  const auto [It, IsNew] = ListingHashes.try_emplace(Each.Path);
  if (IsNew)
    It->second = hashOfText(namesInFolder(Each.Path));
  return It->second == Each.Hash;
}

bool Unchanged::operator()(const Reads &All) {
  const auto Same = [this](const auto &Each) { return isSame(Each); };
  return !All.IsUnsteady && llvm::all_of(All.Files, Same) &&
         llvm::all_of(All.Folders, Same) && llvm::all_of(All.Listings, Same);
}

ReadLog::ReadLog(StringRef Cache)
    : Entries(Cache.empty() ? "" : inFolder(Cache, "headers") + "/") {
  assert(!Current && "one log at a time");
  Current = this;
}

/// A project may have a folder of that name itself, and the cache lie in it.
bool ReadLog::isIgnored(StringRef Path) const {
  return !Entries.empty() && Path.consume_front(Entries) &&
         isNameOfEntry(Path.split('/').first);
}

ReadLog::~ReadLog() { Current = nullptr; }

ReadLog::Pause::Pause() { ++Paused; }
ReadLog::Pause::~Pause() { --Paused; }

ReadLog *ReadLog::current() { return Paused ? nullptr : Current; }

void ReadLog::lookedFor(StringRef Path, Kind What) {
  const StringRef Name = sys::path::filename(Path);
  const StringRef Folder = sys::path::parent_path(Path);
  if (Folder.empty() || isIgnored(Path))
    return;
  const auto [It, IsNew] = Folders[Folder.str()].try_emplace(Name.str(), What);
  IsUnsteady |= !IsNew && It->second != What;
}

void ReadLog::lookedFor(StringRef Folder, const StringSet<> &Names,
                        const StringSet<> &Present) {
  if (isIgnored(Folder) || !Whole.insert(Folder).second)
    return;
  std::map<std::string, Kind> &Known = Folders[Folder.str()];
  for (const auto &Each : Names) {
    const StringRef Name = Each.getKey();
    Known.try_emplace(Name.str(), Present.contains(Name)
                                      ? kindOf(inFolder(Folder, Name))
                                      : Kind::Nothing);
  }
}

void ReadLog::listed(StringRef Folder) {
  if (isIgnored(Folder))
    return;
  const auto [It, IsNew] = Listings.try_emplace(Folder.str());
  if (!IsNew)
    return;
  Reads::Listing &New = It->second;
  New.Path = Folder.str();
  New.Stamp = stampOf(New.Path);
  New.Hash = hashOfText(namesInFolder(Folder));
}

void ReadLog::read(StringRef Path, std::string Stamp, StringRef Content) {
  if (isIgnored(Path))
    return;
  const auto [It, IsNew] = Files.try_emplace(Path.str());
  const std::string Hash = hashOfText(Content);
  IsUnsteady |= !IsNew && It->second.Hash != Hash;
  It->second = {Path.str(), std::move(Stamp), Hash};
}

void ReadLog::forget(StringRef Path) {
  Files.erase(Path.str());
  const auto Folder = Folders.find(sys::path::parent_path(Path).str());
  if (Folder != Folders.end())
    Folder->second.erase(sys::path::filename(Path).str());
}

Reads ReadLog::take() {
  Reads Result;
  for (auto &[Path, Each] : Files) {
    IsUnsteady |= Each.Stamp.empty() || stampOf(Path) != Each.Stamp;
    if (isRecent(Path))
      Each.Stamp.clear();
    Result.Files.push_back(std::move(Each));
  }
  for (auto &[Path, Each] : Listings) {
    IsUnsteady |= stampOf(Path) != Each.Stamp;
    if (isRecent(Path))
      Each.Stamp.clear();
    Result.Listings.push_back(std::move(Each));
  }
  // A folder that is not there is a name that the folder above it lacks. The
  // longest come first: those above them are still to come.
  while (!Folders.empty()) {
    const auto Last = std::prev(Folders.end());
    Reads::Folder Each{Last->first, stampOf(Last->first), "", ""};
    if (Each.Stamp.empty()) {
      const bool WasThere = llvm::any_of(Last->second, [](const auto &Name) {
        return Name.second != Kind::Nothing;
      });
      const std::string Path = Last->first;
      Folders.erase(Last);
      IsUnsteady |= WasThere;
      lookedFor(Path, Kind::Nothing);
      continue;
    }
    for (const auto &[Name, What] : Last->second) {
      (Each.Names += Name) += Separator;
      addPresent(Name, What, Each.Present);
    }
    IsUnsteady |= presentNow(Each.Path, Each.Names) != Each.Present;
    if (isRecent(Each.Path))
      Each.Stamp.clear();
    Folders.erase(Last);
    Result.Folders.push_back(std::move(Each));
  }
  Result.IsUnsteady = IsUnsteady;
  return Result;
}

namespace {

/// Tells the log what is read of a file.
class LoggedFile : public vfs::File {
public:
  LoggedFile(std::unique_ptr<vfs::File> Below, std::string Path,
             std::string Stamp)
      : Below(std::move(Below)), Path(std::move(Path)),
        Stamp(std::move(Stamp)) {}

  ErrorOr<vfs::Status> status() override { return Below->status(); }
  ErrorOr<std::string> getName() override { return Below->getName(); }
  std::error_code close() override { return Below->close(); }
  ErrorOr<std::unique_ptr<MemoryBuffer>> getBuffer(const Twine &Name,
                                                   int64_t FileSize,
                                                   bool RequiresNullTerminator,
                                                   bool IsVolatile) override {
    auto Content =
        Below->getBuffer(Name, FileSize, RequiresNullTerminator, IsVolatile);
    if (ReadLog *Log = ReadLog::current(); Log && Content)
      Log->read(Path, Stamp, (*Content)->getBuffer());
    return Content;
  }

private:
  std::unique_ptr<vfs::File> Below;
  std::string Path, Stamp;
};

} // namespace

const char LoggedFileSystem::ID = 0;

std::string LoggedFileSystem::absolute(const Twine &Path) const {
  SmallString<256> Result;
  Path.toVector(Result);
  makeAbsolute(Result);
  return std::string(Result);
}

ErrorOr<vfs::Status> LoggedFileSystem::status(const Twine &Path) {
  ErrorOr<vfs::Status> Result = ProxyFileSystem::status(Path);
  if (ReadLog *Log = ReadLog::current())
    Log->lookedFor(absolute(Path), !Result                 ? Kind::Nothing
                                   : Result->isDirectory() ? Kind::Folder
                                                           : Kind::File);
  return Result;
}

bool LoggedFileSystem::exists(const Twine &Path) {
  // That would not say what it is.
  if (ReadLog::current())
    return bool(status(Path));
  return ProxyFileSystem::exists(Path);
}

ErrorOr<std::unique_ptr<vfs::File>>
LoggedFileSystem::openFileForRead(const Twine &Path) {
  ReadLog *Log = ReadLog::current();
  if (!Log)
    return ProxyFileSystem::openFileForRead(Path);
  std::string Name = absolute(Path);
  std::string Stamp = stampOf(Name);
  ErrorOr<std::unique_ptr<vfs::File>> Result =
      ProxyFileSystem::openFileForRead(Path);
  if (!Result) {
    // A folder cannot be opened, and neither can what is not to be read.
    Log->lookedFor(Name, kindOf(Name));
    return Result;
  }
  Log->lookedFor(Name, Kind::File);
  return std::make_unique<LoggedFile>(std::move(*Result), std::move(Name),
                                      std::move(Stamp));
}

vfs::directory_iterator LoggedFileSystem::dir_begin(const Twine &Folder,
                                                    std::error_code &Failure) {
  if (ReadLog *Log = ReadLog::current()) {
    const std::string Path = absolute(Folder);
    Log->listed(Path);
    Log->lookedFor(Path, kindOf(Path));
  }
  return ProxyFileSystem::dir_begin(Folder, Failure);
}

} // namespace torchtidy::tool
