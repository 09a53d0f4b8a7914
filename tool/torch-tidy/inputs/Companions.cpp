#include "inputs/Companions.h"
#include "headers/Includes.h"
#include "inputs/Tree.h"
#include "clang/Tooling/ArgumentsAdjusters.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"
#include <deque>

using namespace clang::tooling;
using namespace llvm;

namespace torchtidy::tool {
namespace {

/// A folder in which a compile command looks for headers.
struct SearchFolder {
  std::string Flag, Path;
};

/// In order. One object for each list of them.
using SearchPath = std::vector<SearchFolder>;

SearchPath searchFolders(const CompileCommand &Command) {
  SearchPath Result;
  const std::vector<std::string> &Words = Command.CommandLine;
  for (size_t I = 1; I < Words.size(); ++I)
    for (const StringRef Flag : {"-iquote", "-isystem", "-idirafter", "-I"}) {
      StringRef Path = Words[I];
      if (!Path.consume_front(Flag))
        continue;
      if (Path.empty() && I + 1 < Words.size())
        Path = Words[++I];
      if (!Path.empty())
        Result.push_back({Flag.str(), absoluteIn(Command.Directory, Path)});
      break;
    }
  return Result;
}

bool isTest(StringRef Path) {
  static const Regex Named("^tests?([_.]|$)|_(tests?|unittest)[.]|Tests?[.]");
  return Named.match(sys::path::filename(Path));
}

class Companions {
public:
  Companions(ArrayRef<std::string> Known, const CompilationDatabase &Database,
             IntrusiveRefCntPtr<vfs::FileSystem> FS)
      : Database(Database), FS(std::move(FS)) {
    StringSet<> Paths;
    for (const std::string &Each : Known)
      if (const std::string Path = comparablePath(Each);
          !isTest(Path) && Paths.insert(Path).second)
        ByStem[sys::path::stem(Path)].push_back(Path);
  }

  SourceProgram programOf(const std::string &Source) {
    SourceProgram Result;
    Result.Source = Source;
    Seen.clear();
    Work.clear();
    const std::string Path = comparablePath(Source);
    const SearchPath &Own = foldersOf(Source);
    Seen.insert(Path);
    follow(Path, Own);
    SearchPath All = Own;
    while (!Work.empty()) {
      const Reached Next = std::move(Work.front());
      Work.pop_front();
      follow(Next.Path, *Next.Folders);
      for (const std::string &Each : definitionsOf(Next.Path)) {
        // A header may include it itself, for its templates.
        if (!Seen.insert(Each).second)
          continue;
        if (Result.Companions.size() == MaxCompanions) {
          Result.IsCut = true;
          break;
        }
        Result.Companions.push_back(Each);
        const SearchPath &Folders = foldersOf(Each);
        for (const SearchFolder &Folder : Folders)
          if (llvm::none_of(All, [&](const SearchFolder &Known) {
                return Known.Path == Folder.Path;
              })) {
            All.push_back(Folder);
            Result.Flags.insert(Result.Flags.end(), {Folder.Flag, Folder.Path});
          }
        follow(Each, Folders);
      }
    }
    for (const std::string &Each : Result.Companions)
      Result.Flags.insert(Result.Flags.end(), {"-include", Each});
    return Result;
  }

private:
  struct Reached {
    std::string Path;
    const SearchPath *Folders;
  };

  /// What Path includes is to be looked at.
  void follow(StringRef Path, const SearchPath &Folders) {
    for (const Include &Each : includesOf(Path))
      if (const std::string &Found = resolve(Each, Path, Folders);
          !Found.empty() && Seen.insert(Found).second)
        Work.push_back({Found, &Folders});
  }

  std::vector<std::string> definitionsOf(StringRef Header) {
    std::vector<std::string> Result;
    const auto Same = ByStem.find(sys::path::stem(Header));
    if (Same == ByStem.end() || isSourceName(Header))
      return Result;
    for (const std::string &Each : Same->second) {
      const SearchPath &Folders = foldersOf(Each);
      if (llvm::any_of(includesOf(Each), [&](const Include &Directive) {
            return resolve(Directive, Each, Folders) == Header;
          }))
        Result.push_back(Each);
    }
    // A header that includes all others stands before their sources.
    if (Result.empty())
      llvm::copy_if(Same->second, std::back_inserter(Result),
                    [&](const std::string &Each) {
                      return reaches(Each, Header, foldersOf(Each));
                    });
    return Result;
  }

  /// Through what it includes.
  bool reaches(const std::string &Source, StringRef Header,
               const SearchPath &Folders) {
    StringSet<> Met;
    std::vector<std::string> Left{Source};
    while (!Left.empty()) {
      const std::string From = std::move(Left.back());
      Left.pop_back();
      for (const Include &Each : includesOf(From)) {
        const std::string &Path = resolve(Each, From, Folders);
        if (Path == Header)
          return true;
        if (!Path.empty() && Met.insert(Path).second)
          Left.push_back(Path);
      }
    }
    return false;
  }

  /// Empty for what is of the system or of LibTorch, or not there. Asked once
  /// for all files of a folder that look for the name on one path.
  const std::string &resolve(const Include &Directive, StringRef From,
                             const SearchPath &Folders) {
    const StringRef Beside =
        Directive.isQuoted() ? sys::path::parent_path(From) : StringRef();
    std::string &Key = KeyOfResolved;
    Key.assign(std::to_string(reinterpret_cast<uintptr_t>(&Folders)));
    Key.append({' '}).append(Beside.str()).append(Directive.Text);
    auto [It, IsNew] = Resolved.try_emplace(Key);
    if (IsNew)
      It->second = find(Directive.name(), Beside, Folders);
    return It->second;
  }

  /// Beside: the folder that is looked in first; empty for none.
  std::string find(StringRef Name, StringRef Beside,
                   const SearchPath &Folders) const {
    if (isOfLibTorch(Name))
      return {};
    if (!Beside.empty())
      if (std::string Path = below(Beside, Name); FS->exists(Path))
        return comparablePath(Path);
    for (const SearchFolder &Folder : Folders) {
      std::string Path = below(Folder.Path, Name);
      if (!FS->exists(Path))
        continue;
      const bool IsProjects = Folder.Flag == "-I" || Folder.Flag == "-iquote";
      return IsProjects ? comparablePath(Path) : std::string();
    }
    return {};
  }

  const SearchPath &foldersOf(const std::string &Source) {
    auto [It, IsNew] = FoldersBySource.try_emplace(Source);
    if (IsNew) {
      SearchPath Found;
      for (const CompileCommand &Each : Database.getCompileCommands(Source))
        llvm::append_range(Found, searchFolders(Each));
      std::string Key;
      for (const SearchFolder &Each : Found)
        Key.append(Each.Flag).append(Each.Path).append({'\n'});
      It->second =
          &SearchPaths.try_emplace(Key, std::move(Found)).first->second;
    }
    return *It->second;
  }

  const std::vector<Include> &includesOf(StringRef Path) {
    auto [It, IsNew] = IncludesByFile.try_emplace(Path);
    if (IsNew)
      if (auto Text = FS->getBufferForFile(Path))
        It->second = tool::includesOf((*Text)->getBuffer());
    return It->second;
  }

  const CompilationDatabase &Database;
  IntrusiveRefCntPtr<vfs::FileSystem> FS;
  StringMap<std::vector<std::string>> ByStem;
  StringMap<std::vector<Include>> IncludesByFile;
  StringMap<const SearchPath *> FoldersBySource;
  /// By what is in them.
  StringMap<SearchPath> SearchPaths;
  StringMap<std::string> Resolved;
  std::string KeyOfResolved;
  /// Of the program that is looked for.
  StringSet<> Seen;
  std::deque<Reached> Work;
};

class CommandsOfPrograms : public CompilationDatabase {
public:
  CommandsOfPrograms(const CompilationDatabase &Base,
                     ArrayRef<SourceProgram> Programs)
      : Base(Base) {
    for (const SourceProgram &Each : Programs)
      ByPath[comparablePath(Each.Source)] = &Each;
  }

  std::vector<CompileCommand>
  getCompileCommands(StringRef File) const override {
    std::vector<CompileCommand> Result = Base.getCompileCommands(File);
    const auto Program = ByPath.find(comparablePath(File));
    if (Program != ByPath.end())
      for (CompileCommand &Each : Result)
        Each.CommandLine = getInsertArgumentAdjuster(
            Program->second->Flags,
            ArgumentInsertPosition::BEGIN)(Each.CommandLine, Each.Filename);
    return Result;
  }
  std::vector<std::string> getAllFiles() const override {
    return Base.getAllFiles();
  }

private:
  const CompilationDatabase &Base;
  StringMap<const SourceProgram *> ByPath;
};

} // namespace

std::vector<SourceProgram>
findPrograms(ArrayRef<std::string> Sources, ArrayRef<std::string> Known,
             const CompilationDatabase &Database,
             IntrusiveRefCntPtr<vfs::FileSystem> FS) {
  Companions All(Known, Database, std::move(FS));
  std::vector<SourceProgram> Programs;
  for (const std::string &Source : Sources)
    if (!isTest(comparablePath(Source)))
      if (SourceProgram Each = All.programOf(Source); !Each.Companions.empty())
        Programs.push_back(std::move(Each));
  // What belongs to another one has fewer companions, or as many where both
  // need each other.
  llvm::sort(Programs, [](const auto &A, const auto &B) {
    return std::make_pair(B.Companions.size(), A.Source) <
           std::make_pair(A.Companions.size(), B.Source);
  });
  StringSet<> Parts;
  std::vector<SourceProgram> Result;
  for (SourceProgram &Each : Programs) {
    if (Parts.contains(comparablePath(Each.Source)))
      continue;
    for (const std::string &Part : Each.Companions)
      Parts.insert(Part);
    Result.push_back(std::move(Each));
  }
  llvm::sort(Result,
             [](const auto &A, const auto &B) { return A.Source < B.Source; });
  return Result;
}

std::unique_ptr<CompilationDatabase>
commandsOfPrograms(const CompilationDatabase &Base,
                   ArrayRef<SourceProgram> Programs) {
  return std::make_unique<CommandsOfPrograms>(Base, Programs);
}

} // namespace torchtidy::tool
