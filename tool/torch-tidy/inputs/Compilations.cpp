#include "inputs/Compilations.h"
#include "Messages.h"
#include "inputs/InferredFlags.h"
#include "inputs/Sources.h"
#include "inputs/Tree.h"
#include "clang/Tooling/ArgumentsAdjusters.h"
#include "clang/Tooling/CommonOptionsParser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace clang::tooling;
using namespace llvm;

namespace torchtidy::tool {
namespace {

/// The compile_commands.json that holds for this folder, or an empty string.
std::string findDatabaseFile(StringRef Folder) {
  for (; !Folder.empty(); Folder = sys::path::parent_path(Folder)) {
    std::string File = below(Folder, "compile_commands.json");
    if (sys::fs::exists(File))
      return File;
  }
  return {};
}

StringRef lastLine(StringRef Text) {
  Text = Text.rtrim();
  return Text.substr(Text.rfind('\n') + 1);
}

constexpr llvm::StringLiteral HowToGiveFlags =
    "name the folder of compile_commands.json with -p (CMake writes it with "
    "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON), or give the flags after '--'";

/// What is done to every compile command before it is used.
std::unique_ptr<CompilationDatabase>
decorate(std::unique_ptr<CompilationDatabase> Base, const Options &Line) {
  auto Result =
      std::make_unique<ArgumentsAdjustingCompilations>(std::move(Base));
  Result->appendArgumentsAdjuster(getInsertArgumentAdjuster(
      Line.ExtraArgsBefore, ArgumentInsertPosition::BEGIN));
  Result->appendArgumentsAdjuster(
      getInsertArgumentAdjuster(Line.ExtraArgs, ArgumentInsertPosition::END));
  return Result;
}

struct Found {
  std::unique_ptr<CompilationDatabase> Database;
  /// The file that it is, or that cannot be read; empty where there is none.
  std::string File;
  std::string Reason;
  /// One that was passed over: it was made on another machine, or before the
  /// sources were moved.
  std::string Elsewhere;
};

/// It names files, and neither one of them nor a folder that it was compiled in
/// is here. Clang finds a file by the end of its path as well.
bool isOfElsewhere(const CompilationDatabase &Database) {
  const std::vector<std::string> Files = Database.getAllFiles();
  return !Files.empty() &&
         llvm::none_of(
             Files,
             [](const std::string &File) { return sys::fs::exists(File); }) &&
         llvm::none_of(Database.getAllCompileCommands(),
                       [](const CompileCommand &Each) {
                         return sys::fs::exists(Each.Directory);
                       });
}

/// Whether the search ends with what lies at Place.
bool isFoundAt(StringRef Place, StringRef Name, bool IsToBeTold,
               Found &Result) {
  std::string File = below(Place, Name);
  if (!sys::fs::exists(File))
    return false;
  Result.Database =
      CompilationDatabase::loadFromDirectory(Place, Result.Reason);
  if (Result.Database && isOfElsewhere(*Result.Database)) {
    Result.Database = nullptr;
    Result.Elsewhere = std::move(File);
    return false;
  }
  if (Result.Database && IsToBeTold)
    note() << "the compile commands are those of '" << File << "'\n";
  Result.File = std::move(File);
  return true;
}

/// Of several builds (Debug and Release) the one that was configured last.
void sortByAge(std::vector<std::string> &Folders, StringRef Name,
               vfs::FileSystem &FS) {
  const auto Time = [&](const std::string &Folder) {
    const ErrorOr<vfs::Status> Status = FS.status(below(Folder, Name));
    return Status ? Status->getLastModificationTime() : sys::TimePoint<>();
  };
  llvm::stable_sort(Folders, [&](const std::string &A, const std::string &B) {
    return Time(A) > Time(B);
  });
}

/// The nearest, as clangd looks for it: in each folder from this one upward,
/// and in the subfolder "build" of each; of a project also in other folders of
/// builds, such as build/Release and cmake-build-debug.
Found findDatabase(StringRef Folder, vfs::FileSystem &FS) {
  constexpr llvm::StringLiteral Commands = "compile_commands.json",
                                Flags = "compile_flags.txt";
  Found Result;
  const std::string Root = projectRoot(Folder, FS);
  for (StringRef Each = Folder; !Each.empty();
       Each = sys::path::parent_path(Each)) {
    for (const std::string &Place : {Each.str(), below(Each, "build")})
      for (StringRef Name : {Commands, Flags})
        if (isFoundAt(Place, Name, Place != Each, Result))
          return Result;
    if (!Each.starts_with(Root))
      continue;
    std::vector<std::string> Builds = buildFolders(Each, Commands, FS);
    sortByAge(Builds, Commands, FS);
    for (const std::string &Place : Builds)
      if (isFoundAt(Place, Commands, /*IsToBeTold=*/true, Result))
        return Result;
  }
  return Result;
}

void tellInferred(const InferredFlags &Flags) {
  errs() << "; the flags are inferred: -std=c++" << Flags.Standard;
  const FoundLibTorch &Torch = Flags.LibTorch;
  if (!Torch.Include.empty())
    errs() << ", LibTorch in '" << Torch.Include << "'";
  errs() << ", include folders of '" << Flags.Root << "'. Better "
         << HowToGiveFlags << '\n';
  if (!Torch.Include.empty())
    return;
  warning() << "LibTorch was not found: name its folder with --libtorch. "
               "It was looked for in\n";
  for (const std::string &Place : Torch.Places)
    errs() << "  " << Place << '\n';
}

/// The sources that a build of CMake's is of; empty where that is none.
std::string configuredTree(StringRef BuildFolder, vfs::FileSystem &FS) {
  const ErrorOr<std::unique_ptr<MemoryBuffer>> Cache =
      FS.getBufferForFile(below(BuildFolder, "CMakeCache.txt"));
  if (!Cache)
    return {};
  constexpr llvm::StringLiteral Key = "\nCMAKE_HOME_DIRECTORY:INTERNAL=";
  const StringRef Text = (*Cache)->getBuffer();
  const size_t At = Text.find(Key);
  return At == StringRef::npos
             ? ""
             : Text.drop_front(At + Key.size()).split('\n').first.str();
}

} // namespace

Compilations loadCompilations(Options &Line,
                              IntrusiveRefCntPtr<vfs::FileSystem> FS) {
  Compilations Result;
  if (Line.FlagsAfterDashes) {
    Result.Known = CommandsFor::Any;
    Result.Database = decorate(std::move(Line.FlagsAfterDashes), Line);
    return Result;
  }

  const std::string Folder = Line.BuildPath.empty()
                                 ? folderOf(Line.Sources.front())
                                 : absolutePath(Line.BuildPath);
  Found Nearest;
  if (Line.BuildPath.empty()) {
    Nearest = findDatabase(Folder, *FS);
  } else {
    Nearest.Database =
        CompilationDatabase::autoDetectFromDirectory(Folder, Nearest.Reason);
    Nearest.File = findDatabaseFile(Folder);
  }
  std::unique_ptr<CompilationDatabase> Database = std::move(Nearest.Database);
  const std::string &File = Nearest.File, &Reason = Nearest.Reason;
  // compile_flags.txt has flags and no list of files.
  if (Database && Database->getAllFiles().empty() &&
      !StringRef(File).ends_with(".json"))
    Result.Known = CommandsFor::Any;
  if (!Database) {
    Result.Known = CommandsFor::Guessed;
    Result.Broken = !File.empty() || !Line.BuildPath.empty();
    if (!File.empty())
      error() << "cannot read '" << File << "': " << lastLine(Reason);
    else if (!Nearest.Elsewhere.empty())
      warning() << "no file that '" << Nearest.Elsewhere
                << "' names is here: it was made for another folder, and is "
                   "not used";
    else
      (Result.Broken ? error() : warning())
          << "there is no compile_commands.json in '" << Folder
          << "' or above it";
    if (Line.Sources.empty()) {
      // All that this build compiles is meant.
      const std::string Tree = configuredTree(Folder, *FS);
      if (Tree.empty()) {
        errs() << ": " << HowToGiveFlags << '\n';
        return Result;
      }
      Line.Sources.push_back(Tree);
    }
    InferredFlags Flags = inferFlags(
        folderOf(Line.Sources.front()), Line.LibTorch,
        Line.BuildPath.empty() ? StringRef() : StringRef(Folder), FS);
    tellInferred(Flags);
    Database = std::move(Flags.Database);
    Result.Definitions = std::move(Flags.Definitions);
    Result.Unbuilt = std::make_unique<UnbuiltSources>(FS);
  }
  Result.Database = decorate(std::move(Database), Line);
  return Result;
}

} // namespace torchtidy::tool
