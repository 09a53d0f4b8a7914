#include "headers/HeaderCache.h"
#include "cache/BuildId.h"
#include "cache/Bytes.h"
#include "cache/CacheFolder.h"
#include "cache/Inputs.h"
#include "cache/Reads.h"
#include "headers/PrecompiledHeader.h"
#include "inputs/Json.h"
#include "clang/Basic/Version.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SHA256.h"
#include <chrono>
#include <set>
#include <unistd.h>

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {
namespace {

/// Another number makes the entries of all earlier versions unreachable.
constexpr unsigned Format = 7;

/// For another process that makes the entry: it takes some 10 seconds of an
/// idle machine.
constexpr std::chrono::seconds Patience{120};

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

/// Clang trusts what it reads. Most of it is never read: hashing all of it each
/// time would take longer than all else here.
static bool isIntact(const std::string &Header, StringRef Stamp,
                     StringRef Hash) {
  const std::string Now = stampOf(Header);
  return !Now.empty() && (Now == Stamp || hashOfFile(Header) == Hash);
}

std::optional<HeaderCache::Entry> HeaderCache::read(StringRef Folder) const {
  const std::string Index = inFolder(Folder, "entry.json");
  const std::string Shared = sys::path::parent_path(Folder).str();
  if (!isTrusted(Shared, Settings.Folder) || !isTrusted(Folder.str(), Shared) ||
      !isTrusted(Index, Shared))
    return std::nullopt;
  const std::unique_ptr<MemoryBuffer> Text = readFile(Index);
  if (!Text)
    return std::nullopt;
  Expected<json::Value> Parsed = parseJson(Text->getBuffer());
  if (!Parsed) {
    consumeError(Parsed.takeError());
    return std::nullopt;
  }
  const json::Object *Root = Parsed->getAsObject();
  const json::Array *Files = Root ? Root->getArray("files") : nullptr;
  const json::Array *Inputs = Root ? Root->getArray("inputs") : nullptr;
  const json::Array *Asked = Root ? Root->getArray("asked") : nullptr;
  const json::Value *Lookups = Root ? Root->get("lookups") : nullptr;
  const std::optional<StringRef> Hash =
      Root ? Root->getString("hash") : std::nullopt;
  const std::optional<StringRef> Name =
      Root ? Root->getString("pch") : std::nullopt;
  if (!Files || !Inputs || !Asked || !Lookups || !Hash || !Name ||
      sys::path::has_parent_path(*Name) ||
      // An entry says what it is one for: nobody has put it under another name.
      Root->getString("key") != sys::path::filename(Folder))
    return std::nullopt;
  const std::unique_ptr<MemoryBuffer> Graph =
      readFile(inFolder(Folder, "graph"));
  if (!Graph || !isTrusted(inFolder(Folder, "graph"), Shared) ||
      Root->getString("graph") != StringRef(hashOfText(Graph->getBuffer())))
    return std::nullopt;
  Entry Result;
  Result.Hash = Hash->str();
  Result.Graphs = {Graph->getBuffer().str()};
  Result.Parts = {{sys::path::filename(Folder).str(), Result.Hash}};
  // Without a name it is only known that there is none.
  if (!Name->empty()) {
    Result.Path = inFolder(Folder, *Name);
    if (!isTrusted(Result.Path, Shared) ||
        !isIntact(Result.Path, Root->getString("stamp").value_or(""), *Hash))
      return std::nullopt;
  }
  for (const json::Value &Include : *Files)
    Result.Files.push_back(Include.getAsString().value_or("").str());
  for (const json::Value &Input : *Inputs) {
    if (!isUnchangedFile(Input))
      return std::nullopt;
    Result.Inputs.push_back(
        Input.getAsArray()->front().getAsString().value_or("").str());
  }
  if (!areUnchangedLookups(*Lookups))
    return std::nullopt;
  for (const json::Value &Each : *Asked)
    Result.Asked.push_back(Each.getAsString().value_or("").str());
  markUsed(inFolder(Folder, "used"));
  return Result;
}

std::optional<HeaderCache::Entry>
HeaderCache::readOnce(StringRef Folder) const {
  if (const auto It = Known.find(Folder.str()); It != Known.end() && It->second)
    return It->second;
  return read(Folder);
}

bool HeaderCache::isCurrent(const std::string &Key, StringRef Hash) {
  const std::string Folder = folderOf(Key);
  const auto [It, IsNew] = Known.try_emplace(Folder);
  if (IsNew)
    It->second = read(Folder);
  return It->second && It->second->Hash == Hash;
}

void HeaderCache::look(const std::string &Key) {
  std::optional<Entry> &Found = Known[folderOf(Key)];
  if (!Found)
    Found = read(folderOf(Key));
}

std::string HeaderCache::folderOf(StringRef Key) const {
  return inFolder(inFolder(Settings.Folder, "headers"), Key);
}

/// The first parts of the names that were asked for: "ATen", "cuda.h". Every
/// folder has a "..", so that of "../pytypes.h" (pybind11) it is the whole.
static json::Array firstParts(const HeaderLookups &Lookups) {
  std::set<StringRef> Parts;
  for (const std::string &Name : Lookups.Names) {
    const StringRef First = *sys::path::begin(Name);
    Parts.insert(First.starts_with(".") ? StringRef(Name) : First);
  }
  json::Array Result;
  for (StringRef Part : Parts)
    Result.push_back(Part.str());
  return Result;
}

/// The description of what was made, and of all that it was made of.
static json::Value describeEntry(const PrecompiledHeaderResult &Made,
                                 ArrayRef<std::string> Includes,
                                 ArrayRef<std::string> Inputs) {
  json::Array Described;
  for (const std::string &Input : Inputs)
    Described.push_back(describeFile(Input));
  return json::Object{{"includes", json::Array(Includes)},
                      {"files", json::Array(Made.Entries)},
                      {"unfit", Made.Failure},
                      {"asked", firstParts(Made.Lookups)},
                      {"lookups", describeLookups(Made.Lookups)},
                      {"inputs", std::move(Described)}};
}

/// Of what was made in this folder, the files that lie elsewhere and not in the
/// base.
static std::vector<std::string> ownInputs(const PrecompiledHeaderResult &Made,
                                          StringRef Folder,
                                          const HeaderCache::Entry *Base) {
  std::vector<std::string> Result;
  for (const std::string &Input : Made.Inputs)
    if (sys::path::parent_path(Input) != Folder &&
        (!Base || (Input != Base->Path && !is_contained(Base->Inputs, Input))))
      Result.push_back(Input);
  return Result;
}

bool HeaderCache::write(const std::string &Path, StringRef Text) {
  const std::error_code Failure = writeWhole(Path, Text);
  if (Failure)
    trouble("cannot write '" + Path + "': " + Failure.message());
  return !Failure;
}

std::optional<HeaderCache::Entry>
HeaderCache::make(StringRef Folder, const CompilerInvocation &Command,
                  ArrayRef<std::string> Includes, Bodies Which,
                  IntrusiveRefCntPtr<vfs::FileSystem> FS, const Entry *Base) {
  clearEntry(Folder);
  std::string Text;
  for (const std::string &Include : Includes)
    Text += "#include " + Include + "\n";
  if (Base)
    Text += "#include \"end.h\"\n";
  const std::string Header = inFolder(Folder, "header.h");
  const std::string End = inFolder(Folder, "end.h");
  if ((Base && !write(End, "")) || !write(Header, Text))
    return std::nullopt;
  const PrecompiledHeaderResult Made =
      Base ? precompile(Command, Header, Which, FS, Base->Path, End,
                        Base->Inputs, Base->Graphs)
           : precompile(Command, Header, Which, FS);
  if (!Made.Failure.empty() && !Base) {
    trouble(Made.Failure);
    return std::nullopt;
  }
  const std::vector<std::string> Inputs = ownInputs(Made, Folder, Base);
  // The parse may have seen a part of it as it was before.
  for (const std::string &Input : Inputs)
    if (isWrittenSince(Input, Header)) {
      trouble("'" + Input + "' was changed while it was precompiled");
      return std::nullopt;
    }
  // Another name each time: who has read the last entry may still load it. None
  // where it is of no use: not to be tried again before something changes.
  std::string Name;
  const StringRef Content(Made.Content.data(), Made.Content.size());
  if (Made.Failure.empty())
    Name = "header-" + utostr(sys::Process::getProcessId()) + ".pch";
  const std::string Output = inFolder(Folder, Name);
  if (!Name.empty() && !write(Output, Content))
    return std::nullopt;
  json::Value Described = describeEntry(Made, Includes, Inputs);
  json::Object &Root = *Described.getAsObject();
  Root["key"] = sys::path::filename(Folder);
  Root["pch"] = Name;
  Root["hash"] = hashOfText(Content);
  const std::string Graph = Made.Includes.encode();
  Root["graph"] = hashOfText(Graph);
  if (!write(inFolder(Folder, "graph"), Graph))
    return std::nullopt;
  Root["stamp"] = Name.empty() ? "" : stampOf(Output);
  std::string Json;
  raw_string_ostream(Json) << Described << '\n';
  if (!write(inFolder(Folder, "entry.json"), Json)) {
    if (!Name.empty())
      sys::fs::remove(Output);
    return std::nullopt;
  }
  SmallVector<StringRef, 2> Kept = {Folder};
  if (Base)
    Kept.push_back(sys::path::parent_path(Base->Path));
  evictEntries(sys::path::parent_path(Folder), Kept, Settings.MaxBytes);
  return read(Folder);
}

std::optional<HeaderCache::Entry>
HeaderCache::makeOnce(StringRef Folder, const CompilerInvocation &Command,
                      ArrayRef<std::string> Includes, Bodies Which,
                      IntrusiveRefCntPtr<vfs::FileSystem> FS,
                      const Entry *Base) {
  if (std::optional<Entry> Found = readOnce(Folder))
    return Found;
  // What an entry is made of is the entry's, not the source's.
  const ReadLog::Pause Unnoted;
  const std::string Entries = sys::path::parent_path(Folder).str();
  std::string Obstacle = claimFolder(Entries, Settings.Folder, mayBeEntry);
  if (Obstacle.empty())
    Obstacle = makeFolder(Folder.str(), Entries);
  if (!Obstacle.empty()) {
    trouble(Obstacle);
    return std::nullopt;
  }
  const EntryLock Mine(Folder, Patience, OnWait);
  if (!Mine.failure().empty()) {
    trouble(Mine.failure());
    return std::nullopt;
  }
  // Somebody else may have made it meanwhile.
  if (std::optional<Entry> Found = read(Folder))
    return Found;
  return make(Folder, Command, Includes, Which, std::move(FS), Base);
}

bool HeaderCache::isHidden(const Entry &Found,
                           const CompilerInvocation &Command,
                           vfs::FileSystem &FS) {
  for (const std::string &Folder : foldersBeside(Command, FS))
    for (StringRef Name : Found.Asked)
      if (const std::string Path = inFolder(Folder, Name); FS.exists(Path)) {
        trouble("LibTorch's headers ask for '" + Name + "', which '" + Folder +
                "' has");
        return true;
      }
  return false;
}

std::optional<HeaderCache::Entry>
HeaderCache::get(const CompilerInvocation &Command,
                 ArrayRef<std::string> Includes,
                 IntrusiveRefCntPtr<vfs::FileSystem> FS, Bodies Which) {
  if (Settings.Folder.empty() || Includes.empty())
    return std::nullopt;
  const std::string Folder = folderOf(key(Command, Includes, Which, *FS));
  std::optional<Entry> Found =
      makeOnce(Folder, Command, Includes, Which, FS, nullptr);
  if (Found && isHidden(*Found, Command, *FS))
    return std::nullopt;
  return Found;
}

HeaderCache::Entry HeaderCache::goOn(Entry Base,
                                     const CompilerInvocation &Command,
                                     ArrayRef<std::string> Includes,
                                     IntrusiveRefCntPtr<vfs::FileSystem> FS) {
  if (Includes.empty())
    return Base;
  const std::string Folder =
      folderOf(key(Command, Includes, Bodies::Skipped, *FS, &Base));
  std::optional<Entry> Extended =
      makeOnce(Folder, Command, Includes, Bodies::Skipped, FS, &Base);
  if (Extended)
    llvm::append_range(Extended->Parts, Base.Parts);
  if (!Extended || Extended->Path.empty() ||
      isHidden(*Extended, Command, *FS)) {
    // The base is as good as before: nothing to tell.
    Trouble.clear();
    // That there is no other may change with what that would be made of.
    if (Extended)
      Base.Parts = std::move(Extended->Parts);
    return Base;
  }
  llvm::append_range(Extended->Files, Base.Files);
  llvm::append_range(Extended->Graphs, Base.Graphs);
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

std::string HeaderCache::extensionKey(const StringSet<> &BaseInputs,
                                      const EntryHeaders &Includes) {
  std::set<StringRef> LibTorch, Companions;
  for (const std::string &Include : ArrayRef(Includes.LibTorch).drop_front())
    LibTorch.insert(Include);
  for (const auto &[Include, File] :
       zip_equal(Includes.Companions, Includes.CompanionFiles))
    if (!BaseInputs.contains(File))
      Companions.insert(Include);
  return Includes.LibTorch.front() + "|" + llvm::join(LibTorch, " ") + "|" +
         llvm::join(Companions, " ");
}

std::vector<uint64_t> HeaderCache::declarationsRead(const Entry &Of) const {
  const std::string Path = inFolder(sys::path::parent_path(Of.Path), "read");
  std::vector<uint64_t> Result;
  const std::unique_ptr<MemoryBuffer> Content =
      isTrusted(Path, inFolder(Settings.Folder, "headers")) ? readFile(Path)
                                                            : nullptr;
  if (!Content)
    return Result;
  const auto [Head, Rest] = Content->getBuffer().split('\n');
  // They mean nothing in another header.
  if (Head != Of.Hash + " " + hashOfText(Rest))
    return Result;
  Reader In(Rest);
  In.list(Result, [&](uint64_t &Id) { In.integer(Id); });
  if (In.hasFailed())
    Result.clear();
  return Result;
}

void HeaderCache::setDeclarationsRead(
    const Entry &Of, std::vector<uint64_t> Declarations) const {
  Writer Out;
  Out.list(Declarations, [&](uint64_t &Id) { Out.integer(Id); });
  // Who cannot write it has it the slow way.
  (void)writeWhole(inFolder(sys::path::parent_path(Of.Path), "read"),
                   Of.Hash + " " + hashOfText(Out.Bytes) + "\n" + Out.Bytes);
}

} // namespace torchtidy::tool
