#include "HeaderCache.h"
#include "BuildId.h"
#include "PrecompiledHeader.h"
#include "clang/Basic/Version.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/xxhash.h"
#include <chrono>
#include <sys/file.h>
#include <sys/stat.h>

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {
namespace {

/// Another number makes the entries of all earlier versions unreachable.
constexpr unsigned Format = 4;

std::string inFolder(StringRef Folder, StringRef Name) {
  SmallString<256> Result(Folder);
  sys::path::append(Result, Name);
  return std::string(Result);
}

/// Writes the file as a whole, or not at all.
std::error_code writeWhole(StringRef Path, StringRef Text) {
  const std::string Part =
      (Path + "." + utostr(sys::Process::getProcessId()) + ".part").str();
  std::error_code Failure;
  // Ctrl-C leaves nothing behind.
  sys::RemoveFileOnSignal(Part);
  auto Forget = make_scope_exit([&] { sys::DontRemoveFileOnSignal(Part); });
  {
    raw_fd_ostream Out(Part, Failure);
    if (Failure)
      return Failure;
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

/// The kernel lets go of it when its holder ends, however it ends.
class Lock {
public:
  explicit Lock(StringRef Path) {
    if (sys::fs::openFileForReadWrite(Path, Descriptor, sys::fs::CD_OpenAlways,
                                      sys::fs::OF_None))
      Descriptor = -1;
    else if (flock(Descriptor, LOCK_EX) != 0)
      release();
  }
  ~Lock() { release(); }
  Lock(const Lock &) = delete;
  Lock &operator=(const Lock &) = delete;
  explicit operator bool() const { return Descriptor >= 0; }

private:
  void release() {
    if (Descriptor >= 0)
      sys::Process::SafelyCloseFileDescriptor(Descriptor);
    Descriptor = -1;
  }
  int Descriptor = -1;
};

std::string hashText(uint64_t Hash) { return utohexstr(Hash, /*Lower=*/true); }

ErrorOr<std::unique_ptr<MemoryBuffer>> map(StringRef Path) {
  return MemoryBuffer::getFile(Path, /*IsText=*/false,
                               /*RequiresNullTerminator=*/false);
}

int64_t timeOf(const sys::fs::file_status &Status) {
  return Status.getLastModificationTime().time_since_epoch().count();
}

std::string hashOfFile(StringRef Path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> Content = map(Path);
  return Content ? hashText(xxh3_64bits((*Content)->getBuffer())) : "";
}

/// Any write to the file changes it, whatever is done to its times afterwards;
/// so does a copy of it.
std::string stampOf(const std::string &Path) {
  struct stat Status;
  if (::stat(Path.c_str(), &Status))
    return {};
  return formatv("{0}:{1}:{2}.{3}", Status.st_size, Status.st_ino,
                 Status.st_ctim.tv_sec, Status.st_ctim.tv_nsec);
}

/// What will tell whether the file has changed: path, size, time, hash.
json::Value describe(StringRef Path) {
  sys::fs::file_status Status;
  sys::fs::status(Path, Status);
  return json::Array{Path, int64_t(Status.getSize()), timeOf(Status),
                     hashOfFile(Path)};
}

bool isUnchanged(const json::Value &Described) {
  const json::Array *Parts = Described.getAsArray();
  if (!Parts || Parts->size() != 4)
    return false;
  const StringRef Path = (*Parts)[0].getAsString().value_or("");
  sys::fs::file_status Status;
  if (sys::fs::status(Path, Status) ||
      (*Parts)[1].getAsInteger() != int64_t(Status.getSize()))
    return false;
  return (*Parts)[2].getAsInteger() == timeOf(Status) ||
         (*Parts)[3].getAsString() == hashOfFile(Path);
}

} // namespace

std::string defaultCacheFolder() {
  // What is set to nothing counts as not set, as everywhere in shells.
  const auto Variable = [](StringRef Name) {
    return sys::Process::GetEnv(Name).value_or("");
  };
  if (std::string Given = Variable("TORCH_TIDY_CACHE"); !Given.empty())
    return Given;
  SmallString<256> Folder(Variable("XDG_CACHE_HOME"));
  if (Folder.empty()) {
    if (!sys::path::home_directory(Folder) || Folder.empty())
      return {};
    sys::path::append(Folder, ".cache");
  }
  sys::path::append(Folder, "torch-tidy");
  return std::string(Folder);
}

HeaderCache::HeaderCache(HeaderCacheSettings Given)
    : Settings(std::move(Given)) {
  if (Settings.Folder.empty())
    return;
  ProgramHash = buildIdOfProgram();
  if (ProgramHash.empty())
    ProgramHash = hashOfFile(Settings.Executable);
  if (ProgramHash.empty())
    ProgramHash = Settings.Executable;
}

std::string HeaderCache::key(const CompilerInvocation &Command,
                             ArrayRef<std::string> Includes, Bodies Which,
                             vfs::FileSystem &FS, const Entry *Base) const {
  SHA256 Hash;
  auto Add = [&](StringRef Text) {
    Hash.update(Text);
    Hash.update(StringRef("\0", 1));
  };
  Add(utostr(Format));
  Add(ProgramHash);
  Add(getClangFullVersion());
  Add(Which == Bodies::Kept ? "bodies" : "");
  if (Base) {
    Add(Base->Path);
    Add(Base->Hash);
  }
  for (const std::string &Include : Includes)
    Add(Include);
  const std::shared_ptr<CompilerInvocation> Shared = sharedPart(Command, FS);
  for (const std::string &Word : Shared->getCC1CommandLine())
    Add(Word);
  // Folders that are given relative to another.
  const bool IsRelative =
      llvm::any_of(Shared->getHeaderSearchOpts().UserEntries,
                   [](const HeaderSearchOptions::Entry &Entry) {
                     return !sys::path::is_absolute(Entry.Path);
                   });
  if (IsRelative)
    Add(FS.getCurrentWorkingDirectory().get());
  return toHex(ArrayRef(Hash.final()).take_front(16), /*LowerCase=*/true);
}

std::optional<HeaderCache::Entry> HeaderCache::read(StringRef Folder) const {
  ErrorOr<std::unique_ptr<MemoryBuffer>> Text =
      map(inFolder(Folder, "entry.json"));
  if (!Text)
    return std::nullopt;
  Expected<json::Value> Parsed = json::parse((*Text)->getBuffer());
  if (!Parsed) {
    consumeError(Parsed.takeError());
    return std::nullopt;
  }
  const json::Object *Root = Parsed->getAsObject();
  const json::Array *Files = Root ? Root->getArray("files") : nullptr;
  const json::Array *Inputs = Root ? Root->getArray("inputs") : nullptr;
  const std::optional<StringRef> Hash =
      Root ? Root->getString("hash") : std::nullopt;
  const std::optional<StringRef> Name =
      Root ? Root->getString("pch") : std::nullopt;
  if (!Files || !Inputs || !Hash || !Name || sys::path::has_parent_path(*Name))
    return std::nullopt;
  Entry Result;
  Result.Hash = Hash->str();
  // Without a name it is only known that there is none.
  if (!Name->empty()) {
    Result.Path = inFolder(Folder, *Name);
    // Clang trusts what it reads. Most of it is never read: hashing all of it
    // would take longer than all else here.
    const std::string Stamp = stampOf(Result.Path);
    if (Stamp.empty() || (Stamp != Root->getString("stamp").value_or("") &&
                          hashOfFile(Result.Path) != *Hash))
      return std::nullopt;
  }
  for (const json::Value &Include : *Files)
    Result.Files.push_back(Include.getAsString().value_or("").str());
  for (const json::Value &Input : *Inputs) {
    if (!isUnchanged(Input))
      return std::nullopt;
    Result.Inputs.push_back(
        Input.getAsArray()->front().getAsString().value_or("").str());
  }
  // Used last: a cache that cannot be written cannot forget either.
  int Descriptor;
  if (!sys::fs::openFileForWrite(inFolder(Folder, "used"), Descriptor,
                                 sys::fs::CD_OpenAlways, sys::fs::OF_None)) {
    sys::fs::setLastAccessAndModificationTime(Descriptor,
                                              std::chrono::system_clock::now());
    sys::Process::SafelyCloseFileDescriptor(Descriptor);
  }
  return Result;
}

std::optional<HeaderCache::Entry>
HeaderCache::make(StringRef Folder, const CompilerInvocation &Command,
                  ArrayRef<std::string> Includes, Bodies Which,
                  IntrusiveRefCntPtr<vfs::FileSystem> FS, const Entry *Base) {
  // What a process that was killed has left.
  std::error_code Ignored;
  std::vector<std::string> Left;
  for (sys::fs::directory_iterator It(Folder, Ignored), End;
       It != End && !Ignored; It.increment(Ignored))
    Left.push_back(It->path());
  for (const std::string &Path : Left)
    if (!StringRef(Path).ends_with("lock"))
      sys::fs::remove(Path);

  std::string Text;
  for (const std::string &Include : Includes)
    Text += "#include " + Include + "\n";
  if (Base)
    Text += "#include \"end.h\"\n";
  const std::string Header = inFolder(Folder, "header.h");
  if (std::error_code Failure = writeWhole(Header, Text)) {
    trouble("cannot write '" + Header + "': " + Failure.message());
    return std::nullopt;
  }
  const std::string End = inFolder(Folder, "end.h");
  if (Base)
    if (std::error_code Failure = writeWhole(End, "")) {
      trouble("cannot write '" + End + "': " + Failure.message());
      return std::nullopt;
    }
  // Another name each time: who has read the last entry may still load it.
  std::string Name = "header-" + utostr(sys::Process::getProcessId()) + ".pch";
  const PrecompiledHeaderResult Made =
      Base ? precompile(Command, Header, Which, FS, Base->Path, End,
                        Base->Inputs)
           : precompile(Command, Header, Which, FS);
  if (!Made.Failure.empty()) {
    if (!Base) {
      trouble(Made.Failure);
      return std::nullopt;
    }
    // Not to be tried again before something changes.
    Name.clear();
  }
  const StringRef Content(Made.Content.data(), Made.Content.size());
  const std::string Output = inFolder(Folder, Name);
  if (!Name.empty())
    if (std::error_code Failure = writeWhole(Output, Content)) {
      trouble("cannot write '" + Output + "': " + Failure.message());
      return std::nullopt;
    }
  json::Array Files;
  for (const std::string &File : Made.Entries)
    Files.push_back(File);
  json::Array Inputs;
  for (const std::string &Input : Made.Inputs)
    if (!Base || (Input != Base->Path && !is_contained(Base->Inputs, Input)))
      Inputs.push_back(describe(Input));
  json::Array Written;
  for (const std::string &Include : Includes)
    Written.push_back(Include);
  json::Value Root =
      json::Object{{"pch", Name},
                   {"hash", hashText(xxh3_64bits(Content))},
                   {"stamp", Name.empty() ? "" : stampOf(Output)},
                   {"includes", std::move(Written)},
                   {"files", std::move(Files)},
                   {"unfit", Made.Failure},
                   {"inputs", std::move(Inputs)}};
  std::string Json;
  raw_string_ostream(Json) << Root << '\n';
  const std::string Index = inFolder(Folder, "entry.json");
  if (std::error_code Failure = writeWhole(Index, Json)) {
    if (!Name.empty())
      sys::fs::remove(Output);
    trouble("cannot write '" + Index + "': " + Failure.message());
    return std::nullopt;
  }
  if (Base)
    evict({Folder, sys::path::parent_path(Base->Path)});
  else
    evict(Folder);
  return read(Folder);
}

std::optional<HeaderCache::Entry>
HeaderCache::makeOnce(StringRef Folder, const CompilerInvocation &Command,
                      ArrayRef<std::string> Includes, Bodies Which,
                      IntrusiveRefCntPtr<vfs::FileSystem> FS,
                      const Entry *Base) {
  if (std::optional<Entry> Found = read(Folder))
    return Found;
  if (std::error_code Failure = sys::fs::create_directories(Folder)) {
    trouble("cannot make the folder '" + Folder + "': " + Failure.message());
    return std::nullopt;
  }
  Lock Mine(inFolder(Folder, "lock"));
  if (!Mine) {
    trouble("cannot lock '" + Folder + "'");
    return std::nullopt;
  }
  // Somebody else may have made it meanwhile.
  if (std::optional<Entry> Found = read(Folder))
    return Found;
  return make(Folder, Command, Includes, Which, std::move(FS), Base);
}

std::optional<HeaderCache::Entry>
HeaderCache::get(const CompilerInvocation &Command,
                 ArrayRef<std::string> Includes,
                 IntrusiveRefCntPtr<vfs::FileSystem> FS, Bodies Which) {
  if (Settings.Folder.empty() || Includes.empty())
    return std::nullopt;
  const std::string Folder = inFolder(inFolder(Settings.Folder, "headers"),
                                      key(Command, Includes, Which, *FS));
  return makeOnce(Folder, Command, Includes, Which, std::move(FS), nullptr);
}

HeaderCache::Entry HeaderCache::goOn(Entry Base,
                                     const CompilerInvocation &Command,
                                     ArrayRef<std::string> Includes,
                                     IntrusiveRefCntPtr<vfs::FileSystem> FS) {
  if (Includes.empty())
    return Base;
  const std::string Folder =
      inFolder(inFolder(Settings.Folder, "headers"),
               key(Command, Includes, Bodies::Skipped, *FS, &Base));
  std::optional<Entry> Extended = makeOnce(
      Folder, Command, Includes, Bodies::Skipped, std::move(FS), &Base);
  if (!Extended || Extended->Path.empty()) {
    // The base is as good as before: nothing to tell.
    Trouble.clear();
    return Base;
  }
  llvm::append_range(Extended->Files, Base.Files);
  llvm::append_range(Extended->Inputs, Base.Inputs);
  return std::move(*Extended);
}

HeaderCache::Entry HeaderCache::extend(Entry Base,
                                       const CompilerInvocation &Command,
                                       const EntryHeaders &Includes,
                                       IntrusiveRefCntPtr<vfs::FileSystem> FS) {
  // A project that has <torch/script.h> in some sources beside <torch/torch.h>
  // needs all of LibTorch once, not twice.
  std::vector<std::string> More;
  for (const std::string &Include : ArrayRef(Includes.LibTorch).drop_front()) {
    const std::string End = "/" + StringRef(Include).trim("<>\"").str();
    if (llvm::none_of(Base.Inputs,
                      [&](StringRef Input) { return Input.ends_with(End); }))
      More.push_back(Include);
  }
  Base = goOn(std::move(Base), Command, More, FS);

  More.clear();
  for (const auto &[Include, File] :
       zip_equal(Includes.Companions, Includes.CompanionFiles))
    if (!is_contained(Base.Inputs, File) && !is_contained(More, Include))
      More.push_back(Include);
  // In whatever order a source has them.
  llvm::sort(More);
  return goOn(std::move(Base), Command, More, std::move(FS));
}

void HeaderCache::evict(ArrayRef<StringRef> Kept) const {
  struct Old {
    std::string Folder;
    uint64_t Bytes = 0;
    sys::TimePoint<> Used;
  };
  std::vector<Old> All;
  uint64_t Total = 0;
  std::error_code Ignored;
  const StringRef Parent = sys::path::parent_path(Kept.front());
  for (sys::fs::directory_iterator It(Parent, Ignored), End;
       It != End && !Ignored; It.increment(Ignored)) {
    Old Each;
    Each.Folder = It->path();
    std::error_code Inner;
    for (sys::fs::directory_iterator File(Each.Folder, Inner);
         File != End && !Inner; File.increment(Inner)) {
      sys::fs::file_status Status;
      if (sys::fs::status(File->path(), Status))
        continue;
      Each.Bytes += Status.getSize();
      Each.Used = std::max(Each.Used, Status.getLastModificationTime());
    }
    Total += Each.Bytes;
    if (!is_contained(Kept, StringRef(Each.Folder)))
      All.push_back(std::move(Each));
  }
  llvm::sort(All, [](const Old &A, const Old &B) { return A.Used < B.Used; });
  for (const Old &Each : All) {
    if (Total <= Settings.MaxBytes)
      break;
    sys::fs::remove_directories(Each.Folder);
    Total -= Each.Bytes;
  }
}

} // namespace torchtidy::tool
