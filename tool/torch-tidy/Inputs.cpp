#include "Inputs.h"
#include "Messages.h"
#include "clang/Tooling/ArgumentsAdjusters.h"
#include "clang/Tooling/CommonOptionsParser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace clang::tooling;
using namespace llvm;

namespace torchtidy::tool {
namespace {

std::string absolute(StringRef Path) {
  SmallString<256> Result(Path);
  sys::fs::make_absolute(Result);
  return std::string(Result);
}

/// The compile_commands.json that holds for this folder, or an empty string.
std::string findDatabaseFile(StringRef Folder) {
  for (; !Folder.empty(); Folder = sys::path::parent_path(Folder)) {
    SmallString<256> File = Folder;
    sys::path::append(File, "compile_commands.json");
    if (sys::fs::exists(File))
      return std::string(File);
  }
  return {};
}

StringRef lastLine(StringRef Text) {
  Text = Text.rtrim();
  return Text.substr(Text.rfind('\n') + 1);
}

constexpr StringLiteral HowToGiveFlags =
    "name the folder of compile_commands.json with -p (CMake writes it with "
    "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON), or give the flags after '--'";

/// What is done to every compile command before it is used. A cache of headers
/// would put its -include-pch in here.
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
  std::string Path = absolute(Source);
  ErrorOr<vfs::Status> Status = FS.status(Path);
  if (!Status)
    return Status.getError().message();
  if (Status->isDirectory())
    return "is a folder, not a source file";

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

} // namespace

Compilations loadCompilations(Options &Line) {
  Compilations Result;
  if (Line.FlagsAfterDashes) {
    Result.Database = decorate(std::move(Line.FlagsAfterDashes), Line);
    return Result;
  }

  std::string Reason;
  std::unique_ptr<CompilationDatabase> Database =
      Line.BuildPath.empty()
          ? CompilationDatabase::autoDetectFromSource(Line.Sources.front(),
                                                      Reason)
          : CompilationDatabase::autoDetectFromDirectory(Line.BuildPath,
                                                         Reason);
  if (!Database) {
    Result.WithoutFlags = true;
    std::string Folder =
        Line.BuildPath.empty()
            ? std::string(sys::path::parent_path(absolute(Line.Sources[0])))
            : absolute(Line.BuildPath);
    std::string File = findDatabaseFile(Folder);
    Result.Broken = !File.empty() || !Line.BuildPath.empty();
    if (!File.empty())
      error() << "cannot read '" << File << "': " << lastLine(Reason);
    else
      (Result.Broken ? error() : warning())
          << "there is no compile_commands.json in '" << Folder
          << "' or above it";
    errs() << "; the files are parsed without flags: " << HowToGiveFlags
           << '\n';
    Database = std::make_unique<FixedCompilationDatabase>(
        ".", std::vector<std::string>());
  }
  Result.Database = decorate(std::move(Database), Line);
  return Result;
}

std::vector<std::string> usableSources(ArrayRef<std::string> Sources,
                                       const CompilationDatabase &Database,
                                       vfs::FileSystem &FS) {
  std::vector<std::string> Usable;
  for (const std::string &Source : Sources) {
    std::string Reason = obstacle(Source, Database, FS);
    if (Reason.empty())
      Usable.push_back(Source);
    else
      error() << "cannot analyse '" << Source << "': " << Reason << '\n';
  }
  return Usable;
}

} // namespace torchtidy::tool
