#include "cache/CacheFolder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace llvm;

namespace torchtidy::tool {

/// In the folders that are ours, under a name that no listing shows.
static constexpr StringLiteral FolderMark = ".torch-tidy";
static constexpr StringLiteral LockName = "lock";
/// How a lock begins; the name of its entry and the process that holds it stand
/// behind it.
static constexpr StringLiteral LockMark = "torch-tidy";
/// A wait that is shorter is not worth a word.
static constexpr std::chrono::seconds Silence{3};
static constexpr mode_t FileMode = 0644;

std::string inFolder(StringRef Folder, StringRef Name) {
  SmallString<256> Result(Folder);
  sys::path::append(Result, Name);
  return std::string(Result);
}

std::error_code writeWhole(StringRef Path, StringRef Text) {
  const std::string Part =
      (Path + "." + utostr(sys::Process::getProcessId()) + ".part").str();
  std::error_code Failure;
  // Ctrl-C leaves nothing behind.
  sys::RemoveFileOnSignal(Part);
  auto Forget = make_scope_exit([&] { sys::DontRemoveFileOnSignal(Part); });
  const int Descriptor =
      ::open(Part.c_str(),
             O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, FileMode);
  if (Descriptor < 0)
    return std::error_code(errno, std::generic_category());
  {
    raw_fd_ostream Out(Descriptor, /*shouldClose=*/true);
    Out << Text;
    Out.close();
    Failure = Out.error();
    Out.clear_error();
  }
  if (!Failure)
    Failure = sys::fs::rename(Part, Path);
  if (Failure)
    sys::fs::remove(Part);
  return Failure;
}

std::unique_ptr<MemoryBuffer> readFile(const std::string &Path) {
  // Without O_NONBLOCK, opening a pipe waits for who writes into it.
  const int Descriptor =
      ::open(Path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (Descriptor < 0)
    return nullptr;
  auto Close = make_scope_exit([&] { ::close(Descriptor); });
  struct stat Status;
  if (::fstat(Descriptor, &Status) || !S_ISREG(Status.st_mode))
    return nullptr;
  ErrorOr<std::unique_ptr<MemoryBuffer>> Content = MemoryBuffer::getOpenFile(
      sys::fs::convertFDToNativeFile(Descriptor), Path, Status.st_size,
      /*RequiresNullTerminator=*/false);
  return Content ? std::move(*Content) : nullptr;
}

bool isTrusted(const std::string &Path, const std::string &Shared) {
  struct stat Status, Parent;
  if (::lstat(Path.c_str(), &Status) || ::stat(Shared.c_str(), &Parent))
    return false;
  if (!S_ISREG(Status.st_mode) && !S_ISDIR(Status.st_mode))
    return false;
  constexpr mode_t ByOthers = S_IWGRP | S_IWOTH;
  if (Status.st_mode & ByOthers)
    return false;
  if (Status.st_uid == ::geteuid() || Status.st_uid == 0)
    return true;
  return Status.st_uid == Parent.st_uid && !(Parent.st_mode & ByOthers);
}

static std::string elsewhere(StringRef Folder, const Twine &What) {
  return ("'" + Folder + "' " + What + ", or name another with --cache-dir")
      .str();
}

std::string makeFolder(const std::string &Folder, const std::string &Shared) {
  const auto Mode =
      sys::fs::owner_all | sys::fs::group_read | sys::fs::group_exe;
  if (std::error_code Failure =
          sys::fs::create_directories(Folder, /*IgnoreExisting=*/true, Mode))
    return "cannot make the folder '" + Folder + "': " + Failure.message();
  if (isTrusted(Folder, Shared))
    return {};
  return elsewhere(Folder, "is a link, belongs to another user, or can be "
                           "written by others (chmod go-w): remove it");
}

std::string claimFolder(const std::string &Folder, const std::string &Shared,
                        function_ref<bool(StringRef)> IsOurs) {
  std::string Obstacle = makeFolder(Folder, Shared);
  const std::string Mark = inFolder(Folder, FolderMark);
  if (!Obstacle.empty() || isTrusted(Mark, Folder))
    return Obstacle;
  std::error_code Failure;
  for (sys::fs::directory_iterator It(Folder, Failure,
                                      /*follow_symlinks=*/false),
       End;
       It != End && !Failure; It.increment(Failure)) {
    StringRef Name = sys::path::filename(It->path());
    if (!IsOurs(It->path()) && !(isPart(Name) && Name == FolderMark))
      return elsewhere(Folder, "holds '" + sys::path::filename(It->path()) +
                                   "', which torch-tidy has not made: remove "
                                   "it");
  }
  if (!Failure)
    Failure = writeWhole(Mark, "This folder is torch-tidy's own. It may be "
                               "removed at any time.\n");
  return Failure ? "cannot write in '" + Folder + "': " + Failure.message()
                 : std::string();
}

void markUsed(const std::string &Path) {
  const int Descriptor = ::open(
      Path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
      FileMode);
  if (Descriptor < 0)
    return;
  sys::fs::setLastAccessAndModificationTime(Descriptor,
                                            std::chrono::system_clock::now());
  sys::Process::SafelyCloseFileDescriptor(Descriptor);
}

/// The process that has written its number into a lock; 0 where none has.
static pid_t holderOf(int Descriptor) {
  char Text[80] = {};
  if (::pread(Descriptor, Text, sizeof(Text) - 1, 0) <= 0)
    return 0;
  const StringRef Line = StringRef(Text).trim();
  pid_t Holder = 0;
  if (Line.substr(Line.rfind(' ') + 1).getAsInteger(10, Holder))
    return 0;
  return Holder;
}

/// By Ctrl-Z or SIGSTOP. Where the system does not tell: no.
static bool isStopped(pid_t Process) {
  if (Process <= 0)
    return false;
  ErrorOr<std::unique_ptr<MemoryBuffer>> Text =
      MemoryBuffer::getFileAsStream("/proc/" + Twine(Process) + "/stat");
  if (!Text)
    return false;
  // The name stands in parentheses, and may hold some itself.
  const StringRef State =
      (*Text)->getBuffer().rsplit(')').second.ltrim().take_front();
  return State == "T" || State == "t";
}

EntryLock::EntryLock(StringRef Entry, std::chrono::seconds Patience,
                     const Waits &OnWait) {
  const std::string Path = inFolder(Entry, LockName);
  Descriptor =
      ::open(Path.c_str(),
             O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, FileMode);
  struct stat Status;
  if (Descriptor < 0 || ::fstat(Descriptor, &Status) ||
      !S_ISREG(Status.st_mode)) {
    Failure = "cannot lock '" + Path + "'";
    if (Descriptor < 0)
      Failure += std::string(": ") + std::strerror(errno);
    return;
  }
  const auto Start = std::chrono::steady_clock::now();
  bool IsTold = !OnWait;
  while (::flock(Descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      Failure = "cannot lock '" + Path + "': " + std::strerror(errno);
      return;
    }
    const pid_t Holder = holderOf(Descriptor);
    const std::string Who =
        Holder ? "process " + itostr(Holder) : std::string("another process");
    if (isStopped(Holder)) {
      Failure = Who + ", which is making '" + Path + "', is stopped";
      return;
    }
    const auto Waited = std::chrono::steady_clock::now() - Start;
    if (!IsTold && Waited > Silence) {
      OnWait(Holder);
      IsTold = true;
    }
    if (Waited > Patience) {
      Failure = Who + " holds '" + Path + "' for longer than " +
                itostr(Patience.count()) + " s";
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const std::string Mine = (LockMark + " " + sys::path::filename(Entry) + " " +
                            Twine(::getpid()) + "\n")
                               .str();
  if (::ftruncate(Descriptor, 0) ||
      ::pwrite(Descriptor, Mine.data(), Mine.size(), 0) < 0) {
    // A full disk: it is held all the same, and nobody is told by whom.
  }
}

EntryLock::~EntryLock() {
  if (Descriptor >= 0)
    sys::Process::SafelyCloseFileDescriptor(Descriptor);
}

namespace {

/// What a folder looks like that may be an entry.
struct Candidate {
  std::string Folder;
  std::vector<std::string> Files;
  uint64_t Bytes = 0;
  sys::TimePoint<> Used;
};

} // namespace

bool isNameOfEntry(StringRef Name) {
  return Name.size() == 32 && llvm::all_of(Name, [](char C) {
           return isDigit(C) || (C >= 'a' && C <= 'f');
         });
}

static bool isNumber(StringRef Text) {
  return !Text.empty() && llvm::all_of(Text, isDigit);
}

bool isPart(StringRef &Name) {
  StringRef Whole = Name;
  if (!Whole.consume_back(".part"))
    return false;
  const auto [File, Process] = Whole.rsplit('.');
  if (!isNumber(Process))
    return false;
  Name = File;
  return true;
}

static bool isFileOfEntry(StringRef Name) {
  isPart(Name);
  if (Name == LockName ||
      is_contained({"used", "read", "graph", "header.h", "end.h", "entry.json"},
                   Name))
    return true;
  return Name.consume_front("header-") && Name.consume_back(".pch") &&
         isNumber(Name);
}

/// Who has made an entry has begun with its lock. Before there were marks in
/// it, the description of a whole entry said what it is one for.
static bool isMarked(StringRef Folder) {
  const StringRef Name = sys::path::filename(Folder);
  const auto Lock = readFile(inFolder(Folder, LockName));
  if (Lock && Lock->getBuffer().starts_with((LockMark + " " + Name).str()))
    return true;
  const auto Index = readFile(inFolder(Folder, "entry.json"));
  return Index &&
         Index->getBuffer().contains(("\"key\":\"" + Name + "\"").str());
}

/// Nothing where something in it is none of an entry's files.
static std::optional<Candidate> candidate(StringRef Folder) {
  struct stat Status;
  if (!isNameOfEntry(sys::path::filename(Folder)) ||
      ::lstat(Folder.str().c_str(), &Status) || !S_ISDIR(Status.st_mode))
    return std::nullopt;
  Candidate Result;
  Result.Folder = Folder.str();
  std::error_code Failure;
  for (sys::fs::directory_iterator It(Folder, Failure,
                                      /*follow_symlinks=*/false),
       End;
       It != End && !Failure; It.increment(Failure)) {
    if (!isFileOfEntry(sys::path::filename(It->path())) ||
        ::lstat(It->path().c_str(), &Status) || !S_ISREG(Status.st_mode))
      return std::nullopt;
    Result.Files.push_back(It->path());
    Result.Bytes += Status.st_size;
    Result.Used = std::max(Result.Used,
                           sys::toTimePoint(Status.st_mtim.tv_sec,
                                            uint32_t(Status.st_mtim.tv_nsec)));
  }
  return Failure ? std::nullopt : std::optional(std::move(Result));
}

bool mayBeEntry(StringRef Folder) { return candidate(Folder).has_value(); }

/// By its owner and its mark, too.
static bool isOurs(StringRef Entry) {
  struct stat Status;
  return !::lstat(Entry.str().c_str(), &Status) &&
         Status.st_uid == ::geteuid() && isMarked(Entry);
}

void clearEntry(StringRef Folder) {
  std::error_code Ignored;
  std::vector<std::string> Left;
  for (sys::fs::directory_iterator It(Folder, Ignored,
                                      /*follow_symlinks=*/false),
       End;
       It != End && !Ignored; It.increment(Ignored))
    if (const StringRef Name = sys::path::filename(It->path());
        isFileOfEntry(Name) && Name != LockName)
      Left.push_back(It->path());
  for (const std::string &Path : Left)
    ::unlink(Path.c_str());
}

/// Used last first, as long as Total is more than MaxBytes.
static void remove(std::vector<Candidate> Old, uint64_t Total,
                   uint64_t MaxBytes) {
  llvm::sort(Old, [](const Candidate &A, const Candidate &B) {
    return A.Used < B.Used;
  });
  for (const Candidate &Each : Old) {
    if (Total <= MaxBytes)
      break;
    for (const std::string &File : Each.Files)
      ::unlink(File.c_str());
    // Only an empty one goes.
    if (!Each.Folder.empty())
      ::rmdir(Each.Folder.c_str());
    Total -= Each.Bytes;
  }
}

void evictFiles(StringRef Folder, function_ref<bool(StringRef)> IsOurs,
                uint64_t MaxBytes) {
  std::vector<Candidate> Old;
  uint64_t Total = 0;
  std::error_code Failure;
  for (sys::fs::directory_iterator It(Folder, Failure,
                                      /*follow_symlinks=*/false),
       End;
       It != End && !Failure; It.increment(Failure)) {
    struct stat Status;
    if (!IsOurs(It->path()) || ::lstat(It->path().c_str(), &Status) ||
        !S_ISREG(Status.st_mode) || Status.st_uid != ::geteuid())
      continue;
    Old.push_back({"",
                   {It->path()},
                   uint64_t(Status.st_size),
                   sys::toTimePoint(Status.st_mtim.tv_sec,
                                    uint32_t(Status.st_mtim.tv_nsec))});
    Total += Old.back().Bytes;
  }
  remove(std::move(Old), Total, MaxBytes);
}

void evictEntries(StringRef Folder, ArrayRef<StringRef> Kept,
                  uint64_t MaxBytes) {
  std::vector<Candidate> Old;
  uint64_t Total = 0;
  std::error_code Failure;
  for (sys::fs::directory_iterator It(Folder, Failure,
                                      /*follow_symlinks=*/false),
       End;
       It != End && !Failure; It.increment(Failure)) {
    std::optional<Candidate> Each = candidate(It->path());
    if (!Each || !isOurs(It->path()))
      continue;
    Total += Each->Bytes;
    if (!is_contained(Kept, StringRef(Each->Folder)))
      Old.push_back(std::move(*Each));
  }
  remove(std::move(Old), Total, MaxBytes);
}

} // namespace torchtidy::tool
