#include "inputs/InferredFlags.h"
#include "headers/Includes.h"
#include "inputs/Tree.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/Utils.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "clang/Tooling/CompilationDatabase.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"

using namespace clang;
using namespace clang::tooling;
using namespace llvm;

namespace torchtidy::tool {
namespace {

std::string read(StringRef Path, vfs::FileSystem &FS) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> Text = FS.getBufferForFile(Path);
  return Text ? (*Text)->getBuffer().str() : "";
}

/// What may name a standard, and what is defined.
bool hasFlags(StringRef Path) {
  const StringRef Name = sys::path::filename(Path);
  return isBuildFile(Path) || Name == "CMakePresets.json" ||
         Name.ends_with(".bazelrc");
}

/// The newest that the text names; 0 where it names none.
unsigned standardIn(StringRef Text) {
  static const Regex Named(
      "(CXX_STANDARD[ \t]+|cxx_std_|std[=:](c|gnu)[+][+]|stdcpp|"
      "cpp_std=(c|gnu)[+][+])(17|1z|20|2a|23|2b|26|2c)([^0-9]|$)",
      Regex::IgnoreCase);
  unsigned Newest = 0;
  SmallVector<StringRef, 8> Parts;
  while (Named.match(Text, &Parts)) {
    const StringRef Year = Parts[4];
    const unsigned Standard =
        Year == "17" || Year.equals_insensitive("1z")   ? 17
        : Year == "20" || Year.equals_insensitive("2a") ? 20
        : Year == "23" || Year.equals_insensitive("2b") ? 23
                                                        : 26;
    Newest = std::max(Newest, Standard);
    Text = Text.drop_front(Parts[0].end() - Text.begin());
  }
  return Newest;
}

/// X and X=1 of -DX, -DX=1, and of what compile_definitions commands list.
/// Variables of the build (X=${VERSION}) say nothing.
void addDefinitions(StringRef Text, std::map<std::string, std::string> &To) {
  static const Regex Flag("(^|[^A-Za-z0-9_])-D([A-Za-z_][A-Za-z0-9_]*)"
                          "(=[A-Za-z0-9_.]+)?([^A-Za-z0-9_=.]|$)");
  static const Regex Command("compile_definitions[ \t]*[(]([^)]*)[)]",
                             Regex::IgnoreCase);
  static const Regex Listed("^([A-Za-z_][A-Za-z0-9_]*)(=[A-Za-z0-9_.]+)?$");
  SmallVector<StringRef, 8> Parts;
  for (StringRef Rest = Text; Flag.match(Rest, &Parts);
       Rest = Rest.drop_front(Parts[3].empty() ? Parts[2].end() - Rest.begin()
                                               : Parts[3].end() - Rest.begin()))
    To.try_emplace(Parts[2].str(), (Parts[2] + Parts[3]).str());
  for (StringRef Rest = Text; Command.match(Rest, &Parts);
       Rest = Rest.drop_front(Parts[0].end() - Rest.begin())) {
    // target_compile_definitions begins with the target: a macro of its name
    // hides nothing.
    SmallVector<StringRef, 8> Words;
    SplitString(Parts[1], Words);
    SmallVector<StringRef, 8> Names;
    for (StringRef Word : Words)
      if (Listed.match(Word.trim('"'), &Names))
        To.try_emplace(Names[1].str(), (Names[1] + Names[2]).str());
  }
}

/// Steps from one folder of the tree to the other.
size_t distance(StringRef From, StringRef To) {
  SmallVector<StringRef> A, B;
  From.split(A, '/', -1, false);
  To.split(B, '/', -1, false);
  size_t Common = 0;
  while (Common < A.size() && Common < B.size() && A[Common] == B[Common])
    ++Common;
  return A.size() + B.size() - 2 * Common;
}

/// The folders that a name like "vector" or "string.h" is found in whatever
/// the project says.
std::vector<std::string> systemFolders(ArrayRef<std::string> Flags,
                                       IntrusiveRefCntPtr<vfs::FileSystem> FS) {
  std::vector<const char *> Words = {"clang++"};
  for (const std::string &Flag : Flags)
    Words.push_back(Flag.c_str());
  Words.insert(Words.end(), {"-fsyntax-only", "x.cpp"});
  CreateInvocationOptions Options;
  Options.VFS = std::move(FS);
  IgnoringDiagConsumer Nobody;
  IntrusiveRefCntPtr<DiagnosticsEngine> Diagnostics(
      new DiagnosticsEngine(new DiagnosticIDs, new DiagnosticOptions, &Nobody,
                            /*ShouldOwnClient=*/false));
  Options.Diags = Diagnostics;
  std::vector<std::string> Result;
  if (std::unique_ptr<CompilerInvocation> Invocation =
          createInvocation(Words, std::move(Options)))
    for (const auto &Entry : Invocation->getHeaderSearchOpts().UserEntries)
      Result.push_back(Entry.Path);
  return Result;
}

/// The folders that one source needs, found by following its includes.
class Tree {
public:
  Tree(StringRef Root, IntrusiveRefCntPtr<vfs::FileSystem> FS)
      : FS(std::move(FS)) {
    for (const std::string &Path : filesBelow(Root, *this->FS)) {
      Files.insert(Path);
      ByName[sys::path::filename(Path)].push_back(Path);
      if (!hasFlags(Path))
        continue;
      const std::string Text = read(Path, *this->FS);
      // Written by a program: no hand writes as much.
      if (Text.size() > (1u << 20))
        continue;
      Standard = std::max(Standard, standardIn(Text));
      addDefinitions(Text, Definitions);
    }
  }

  unsigned Standard = 17;
  std::map<std::string, std::string> Definitions;
  /// Of the system and of LibTorch.
  std::vector<std::string> Known;

  std::vector<std::string> flagsFor(StringRef Source) {
    Reach Now;
    Now.Source = sys::path::parent_path(Source);
    visit(Source, Now, 0);
    std::vector<std::string> Flags;
    for (const std::string &Folder : Now.Folders) {
      // A folder with a file like "string.h" in it must not hide the system's.
      Flags.emplace_back(hidesSystem(Folder) ? "-iquote" : "-I");
      Flags.push_back(Folder);
    }
    for (const std::string &Folder : Now.Packages) {
      Flags.emplace_back("-isystem");
      Flags.push_back(Folder);
    }
    return Flags;
  }

private:
  struct Reach {
    StringRef Source;
    StringSet<> Seen;
    std::vector<std::string> Folders, Packages;
  };
  static constexpr unsigned MaxDepth = 64;

  void visit(StringRef Path, Reach &Now, unsigned Depth) {
    if (Depth > MaxDepth || !Now.Seen.insert(Path).second)
      return;
    for (const Include &Each : includes(Path)) {
      std::string Found = resolve(Each.name(), Each.isQuoted(), Path, Now);
      if (!Found.empty())
        visit(Found, Now, Depth + 1);
    }
  }

  /// The file of the tree that is meant, or an empty string. Adds a folder
  /// where none leads to it.
  std::string resolve(StringRef Name, bool IsQuoted, StringRef From,
                      Reach &Now) {
    if (IsQuoted)
      if (std::string Beside =
              comparablePath(below(sys::path::parent_path(From), Name));
          Files.contains(Beside))
        return Beside;
    for (const std::string &Folder : Now.Folders)
      if (std::string Path = comparablePath(below(Folder, Name));
          Files.contains(Path))
        return Path;
    if (isKnown(Name)) {
      if (needsPython(Name))
        addPackage("Python.h", Now);
      return {};
    }
    std::string Nearest;
    size_t Steps = 0;
    const std::string Ending = ("/" + Name).str();
    const auto Same = ByName.find(sys::path::filename(Name));
    for (const std::string &Path :
         Same == ByName.end() ? std::vector<std::string>() : Same->second) {
      if (!StringRef(Path).ends_with(Ending))
        continue;
      const size_t Each = distance(Now.Source, sys::path::parent_path(Path));
      if (Nearest.empty() || Each < Steps) {
        Nearest = Path;
        Steps = Each;
      }
    }
    if (!Nearest.empty()) {
      Now.Folders.push_back(Nearest.substr(0, Nearest.size() - Ending.size()));
      return Nearest;
    }
    addPackage(Name, Now);
    return {};
  }

  void addPackage(StringRef Name, Reach &Now) {
    if (isKnown(Name))
      return;
    if (std::string Package = packageWith(Name);
        !Package.empty() && !llvm::is_contained(Now.Packages, Package))
      Now.Packages.push_back(Package);
  }

  bool isKnown(StringRef Name) {
    auto [It, IsNew] = IsKnown.try_emplace(Name, false);
    if (IsNew)
      It->second = llvm::any_of(Known, [&](const std::string &Folder) {
        return FS->exists(below(Folder, Name));
      });
    return It->second;
  }

  /// Packages like OpenCV's install their headers below a folder of their own.
  std::string packageWith(StringRef Name) {
    auto [It, IsNew] = Packages.try_emplace(Name);
    if (!IsNew)
      return It->second;
    std::vector<std::string> Found;
    for (StringRef Parent : {"/usr/local/include", "/usr/include"}) {
      std::error_code Failure;
      for (vfs::directory_iterator Entry = FS->dir_begin(Parent, Failure), End;
           Entry != End && !Failure; Entry.increment(Failure))
        // Not the kernel's: it has a string.h of its own.
        if (Entry->type() == sys::fs::file_type::directory_file &&
            FS->exists(below(Entry->path(), Name)) &&
            !hidesSystem(Entry->path()))
          Found.push_back(Entry->path().str());
    }
    if (!Found.empty())
      It->second = *llvm::min_element(Found);
    return It->second;
  }

  bool hidesSystem(StringRef Folder) {
    std::error_code Failure;
    for (vfs::directory_iterator It = FS->dir_begin(Folder, Failure), End;
         It != End && !Failure; It.increment(Failure))
      if (isKnown(sys::path::filename(It->path())))
        return true;
    return false;
  }

  const std::vector<Include> &includes(StringRef Path) {
    auto [It, IsNew] = Includes.try_emplace(Path);
    if (IsNew)
      It->second = includesOf(read(Path, *FS));
    return It->second;
  }

  IntrusiveRefCntPtr<vfs::FileSystem> FS;
  StringSet<> Files;
  StringMap<std::vector<std::string>> ByName;
  StringMap<std::vector<Include>> Includes;
  StringMap<bool> IsKnown;
  StringMap<std::string> Packages;
};

class InferredCompilations : public CompilationDatabase {
public:
  InferredCompilations(std::unique_ptr<Tree> Project,
                       std::vector<std::string> Flags)
      : Project(std::move(Project)), Flags(std::move(Flags)) {}

  std::vector<CompileCommand>
  getCompileCommands(StringRef File) const override {
    std::vector<std::string> All = Flags;
    llvm::append_range(All, Project->flagsFor(comparablePath(File)));
    return FixedCompilationDatabase(".", All).getCompileCommands(File);
  }

private:
  std::unique_ptr<Tree> Project;
  std::vector<std::string> Flags;
};

} // namespace

InferredFlags inferFlags(StringRef Folder, StringRef LibTorch,
                         StringRef BuildFolder,
                         IntrusiveRefCntPtr<vfs::FileSystem> FS) {
  InferredFlags Result;
  const std::string From = comparablePath(Folder);
  Result.Root = projectRoot(From, *FS);
  auto Project = std::make_unique<Tree>(Result.Root, FS);
  Result.Standard = Project->Standard;
  Result.Definitions = Project->Definitions;
  Result.LibTorch = findLibTorch(LibTorch, From, Result.Root, BuildFolder, *FS);
  std::vector<std::string> Flags = {"-std=c++" +
                                    std::to_string(Result.Standard)};
  llvm::append_range(Flags, libTorchFlags(Result.LibTorch.Include, *FS));
  Project->Known = systemFolders(Flags, FS);
  Result.Database = std::make_unique<InferredCompilations>(std::move(Project),
                                                           std::move(Flags));
  return Result;
}

} // namespace torchtidy::tool
