#include "cache/Inputs.h"
#include "cache/CacheFolder.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"
#include <map>
#include <sys/stat.h>
#include <tuple>

using namespace llvm;

namespace torchtidy::tool {

/// The names in a list: none has a slash.
static constexpr llvm::StringLiteral Comma = "/";

std::string stampOf(const std::string &Path) {
  struct stat Status;
  if (::stat(Path.c_str(), &Status))
    return {};
  return formatv("{0}:{1}:{2}.{3}", Status.st_size, Status.st_ino,
                 Status.st_ctim.tv_sec, Status.st_ctim.tv_nsec);
}

Kind kindOf(const std::string &Path) {
  struct stat Status;
  if (::stat(Path.c_str(), &Status))
    return Kind::Nothing;
  return S_ISDIR(Status.st_mode) ? Kind::Folder : Kind::File;
}

void addPresent(StringRef Name, Kind What, std::string &List) {
  if (What == Kind::Nothing)
    return;
  (List += Name) += Comma;
  if (What == Kind::Folder)
    List += Comma;
}

std::string hashOfText(StringRef Text) {
  return utohexstr(xxh3_64bits(Text), /*LowerCase=*/true);
}

std::string hashOfFile(const std::string &Path) {
  const std::unique_ptr<MemoryBuffer> Content = readFile(Path);
  return Content ? hashOfText(Content->getBuffer()) : "";
}

json::Value describeFile(const std::string &Path) {
  return json::Array{Path, stampOf(Path), hashOfFile(Path)};
}

bool isUnchangedFile(const json::Value &Described) {
  const json::Array *Parts = Described.getAsArray();
  if (!Parts || Parts->size() != 3)
    return false;
  const std::string Path = (*Parts)[0].getAsString().value_or("").str();
  const std::string Stamp = stampOf(Path);
  const StringRef Before = (*Parts)[1].getAsString().value_or("");
  if (Stamp.empty() || Before.empty())
    return false;
  if (Stamp == Before)
    return true;
  // Another size is another content.
  return StringRef(Stamp).split(':').first == Before.split(':').first &&
         (*Parts)[2].getAsString() == hashOfFile(Path);
}

bool isWrittenSince(const std::string &Path, const std::string &Other) {
  struct stat Its, Others;
  if (::stat(Path.c_str(), &Its) || ::stat(Other.c_str(), &Others))
    return true;
  return std::tie(Its.st_ctim.tv_sec, Its.st_ctim.tv_nsec) >=
         std::tie(Others.st_ctim.tv_sec, Others.st_ctim.tv_nsec);
}

namespace {

/// By folder: the names, of headers and of folders on the way to them, that
/// were looked for in it.
using NamesByFolder = std::map<std::string, std::set<std::string>>;

} // namespace

static void addWay(StringRef Folder, StringRef Name, NamesByFolder &Result) {
  SmallString<256> At(Folder);
  for (auto It = sys::path::begin(Name), End = sys::path::end(Name); It != End;
       ++It) {
    Result[std::string(At)].insert(It->str());
    sys::path::append(At, *It);
  }
}

static NamesByFolder namesByFolder(const HeaderLookups &Lookups) {
  NamesByFolder Result;
  for (const std::string &Folder : Lookups.Folders) {
    // One that is not there yet may come.
    Result[sys::path::parent_path(Folder).str()].insert(
        sys::path::filename(Folder).str());
    for (const std::string &Name : Lookups.Names)
      addWay(Folder, Name, Result);
  }
  for (const auto &[Folder, Name] : Lookups.Beside)
    addWay(Folder, Name, Result);
  return Result;
}

/// Which of the names are there, as one hash. What else lies in the folder does
/// not matter.
template <class NamesT>
static std::string hashOfPresent(StringRef Folder, const NamesT &Names) {
  std::string Present;
  for (const auto &Name : Names)
    addPresent(Name, kindOf(inFolder(Folder, Name)), Present);
  return hashOfText(Present);
}

json::Value describeLookups(const HeaderLookups &Lookups) {
  json::Array Result;
  for (const auto &[Folder, Names] : namesByFolder(Lookups)) {
    // One that is not there is a name that the folder above it lacks.
    std::string Stamp = stampOf(Folder);
    if (Stamp.empty())
      continue;
    Result.push_back(json::Array{Folder, std::move(Stamp),
                                 llvm::join(Names, Comma),
                                 hashOfPresent(Folder, Names)});
  }
  return Result;
}

static bool isUnchangedFolder(const json::Value &Described) {
  const json::Array *Parts = Described.getAsArray();
  if (!Parts || Parts->size() != 4)
    return false;
  const std::string Folder = (*Parts)[0].getAsString().value_or("").str();
  if ((*Parts)[1].getAsString() == stampOf(Folder))
    return true;
  SmallVector<StringRef, 64> Names;
  (*Parts)[2].getAsString().value_or("").split(Names, Comma);
  return (*Parts)[3].getAsString() == hashOfPresent(Folder, Names);
}

bool areUnchangedLookups(const json::Value &Described) {
  const json::Array *Folders = Described.getAsArray();
  return Folders && llvm::all_of(*Folders, isUnchangedFolder);
}

} // namespace torchtidy::tool
