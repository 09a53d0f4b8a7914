#include "inputs/Sources.h"
#include "Messages.h"
#include "inputs/Tree.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace clang::tooling;
using namespace llvm;

namespace torchtidy::tool {
namespace {

constexpr llvm::StringLiteral Wildcards = "*?[{";

/// Why this file is no C++ source text, or an empty string.
std::string unreadableText(StringRef Path, vfs::FileSystem &FS) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> Text = FS.getBufferForFile(Path);
  if (!Text)
    return Text.getError().message();
  StringRef Start = (*Text)->getBuffer().take_front(4096);
  if (Start.starts_with("\xFF\xFE") || Start.starts_with("\xFE\xFF"))
    return "is UTF-16 text; Clang reads UTF-8";
  if (size_t At = Start.find('\0'); At != StringRef::npos)
    return "is a binary file (byte " + utostr(At) + " is zero)";
  return {};
}

/// What keeps a source file from being analysed, or an empty string.
std::string obstacle(StringRef Source, const CompilationDatabase &Database,
                     vfs::FileSystem &FS) {
  std::string Path = absolutePath(Source);
  ErrorOr<vfs::Status> Status = FS.status(Path);
  if (!Status)
    return Status.getError().message();

  // A pipe can be read only once.
  if (Status->isRegularFile())
    if (std::string Reason = unreadableText(Path, FS); !Reason.empty())
      return Reason;

  std::vector<CompileCommand> Commands = Database.getCompileCommands(Path);
  if (Commands.empty())
    return "compile_commands.json has no command for it";
  for (const CompileCommand &Command : Commands)
    if (!FS.exists(Command.Directory))
      return "its compile command runs in '" + Command.Directory +
             "', which does not exist; run CMake again";
  return {};
}

class Finder {
public:
  Finder(const Compilations &Commands, vfs::FileSystem &FS)
      : Database(*Commands.Database), Known(Commands.Known),
        Unbuilt(Commands.Unbuilt.get()), FS(FS) {
    for (const std::string &File : Database.getAllFiles())
      Entries.push_back(comparablePath(File));
    llvm::sort(Entries);
    Entries.erase(llvm::unique(Entries), Entries.end());
  }

  void addAll() {
    for (const std::string &Entry : Entries)
      add(Entry, Entry);
    if (Entries.empty())
      fail("compile_commands.json has no entries: there is nothing to analyse");
  }

  void addName(const std::string &Name) {
    ErrorOr<vfs::Status> Status = FS.status(absolutePath(Name));
    if (Status && Status->isDirectory())
      return addFolder(Name);
    if (!Status && StringRef(Name).find_first_of(Wildcards) != StringRef::npos)
      return addGlob(Name);
    // As it was written: messages name it so.
    add(Name, comparablePath(Name), /*IsNamed=*/true);
  }

  SourceList take() { return std::move(Result); }

private:
  void add(const std::string &Name, const std::string &Path,
           bool IsNamed = false) {
    if (!Seen.insert(Path).second)
      return;
    if (std::string Reason = obstacle(Name, Database, FS); !Reason.empty())
      fail("cannot analyse '" + Name + "': " + Reason);
    else
      Result.Usable.push_back(Name);
    if (!IsNamed)
      Result.Gathered.insert(Name);
  }

  void addFolder(const std::string &Name) {
    std::string Folder = comparablePath(Name);
    if (!StringRef(Folder).ends_with("/"))
      Folder += '/';
    const std::vector<std::string> Files = filesBelow(Folder, FS);
    std::vector<std::string> Present, Device;
    for (const std::string &Path : Files)
      if (isSourceName(Path))
        Present.push_back(Path);
      else if (sys::path::extension(Path) == ".cu")
        Device.push_back(Path);
    if (!Device.empty())
      note() << counted(Device.size(), "CUDA source") << " (.cu) in '" << Name
             << "' cannot be read yet and "
             << (Device.size() == 1 ? "is" : "are") << " not analysed\n";
    if (Known != CommandsFor::Listed) {
      if (Present.empty())
        return fail("there are no C++ sources in '" + Name + "'");
      std::vector<std::string> Left;
      if (Unbuilt)
        llvm::copy_if(
            Present, std::back_inserter(Left),
            [&](const std::string &Path) { return Unbuilt->contains(Path); });
      // Who names a folder of such sources means them.
      if (Left.size() == Present.size())
        Left.clear();
      for (const std::string &Path : Present)
        if (!std::binary_search(Left.begin(), Left.end(), Path))
          add(Path, Path);
      return tellLeft(Name, Left, "named by no build file",
                      "; to analyse one, name it");
    }
    size_t Found = 0;
    for (const std::string &Entry : Entries)
      if (StringRef(Entry).starts_with(Folder)) {
        add(Entry, Entry);
        ++Found;
      }
    if (!Found)
      return fail("compile_commands.json has no entry for a file in '" + Name +
                  "': name the folder of one that has with -p, or give the "
                  "flags after '--'");
    std::vector<std::string> Left;
    for (const std::string &Path : Present)
      if (!std::binary_search(Entries.begin(), Entries.end(), Path))
        Left.push_back(Path);
    tellLeft(Name, Left, "not listed in compile_commands.json");
  }

  /// A file that is compiled nowhere may be meant so, or forgotten.
  static void tellLeft(StringRef Name, ArrayRef<std::string> Left,
                       StringRef Why, StringRef Advice = "") {
    if (Left.empty())
      return;
    constexpr size_t Shown = 3;
    const bool IsOne = Left.size() == 1;
    note() << Left.size() << (IsOne ? " source" : " sources") << " in '" << Name
           << "' " << (IsOne ? "is " : "are ") << Why << " and "
           << (IsOne ? "is" : "are") << " not analysed: ";
    ListSeparator Comma;
    for (const std::string &Path : Left.take_front(Shown))
      errs() << Comma << Path;
    errs() << (Left.size() > Shown ? ", ..." : "") << Advice << '\n';
  }

  void addGlob(const std::string &Name) {
    // The pattern refers to its text.
    const std::string Text = comparablePath(Name);
    Expected<GlobPattern> Pattern =
        GlobPattern::create(Text, /*MaxSubPatterns=*/1024);
    if (!Pattern)
      return fail("'" + Name +
                  "' is no glob: " + toString(Pattern.takeError()));
    size_t Found = 0;
    const std::vector<std::string> All = Known == CommandsFor::Listed
                                             ? Entries
                                             : sourcesBelow(folderOf(Name), FS);
    for (const std::string &Path : All)
      if (Pattern->match(Path)) {
        add(Path, Path);
        ++Found;
      }
    if (!Found)
      fail("'" + Name + "' matches " +
           (Known == CommandsFor::Listed ? "no entry of compile_commands.json"
                                         : "no C++ source"));
  }

  void fail(const Twine &What) {
    error() << What << '\n';
    ++Result.NumUnusable;
  }

  const CompilationDatabase &Database;
  CommandsFor Known;
  UnbuiltSources *Unbuilt;
  vfs::FileSystem &FS;
  std::vector<std::string> Entries;
  StringSet<> Seen;
  SourceList Result;
};

} // namespace

std::string folderOf(StringRef Name) {
  std::string Path = comparablePath(Name);
  if (sys::fs::is_directory(Path))
    return Path;
  const StringRef Plain =
      sys::fs::exists(Path)
          ? StringRef(Path)
          : StringRef(Path).substr(0, StringRef(Path).find_first_of(Wildcards));
  return sys::path::parent_path(Plain).str();
}

SourceList findSources(ArrayRef<std::string> Names,
                       const Compilations &Commands, vfs::FileSystem &FS) {
  Finder Find(Commands, FS);
  if (Names.empty())
    Find.addAll();
  for (const std::string &Name : Names)
    Find.addName(Name);
  return Find.take();
}

} // namespace torchtidy::tool
