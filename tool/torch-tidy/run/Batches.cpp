#include "run/Batches.h"
#include "clang-tidy/ClangTidyOptions.h"
#include "inputs/Tree.h"
#include "clang/Tooling/ArgumentsAdjusters.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {

/// The process that reads for the others takes as long as a file.
static constexpr size_t LeastSize = 3;

std::optional<std::string> inputOf(const tooling::CompileCommand &Command) {
  const std::string Source = absoluteIn(Command.Directory, Command.Filename);
  std::optional<std::string> Found;
  for (const std::string &Word : ArrayRef(Command.CommandLine).drop_front())
    if (absoluteIn(Command.Directory, Word) == Source) {
      if (Found)
        return std::nullopt;
      Found = Word;
    }
  return Found;
}

/// Empty for a source that is to stay alone.
static std::string keyOf(const std::string &Source,
                         const tooling::CompilationDatabase &Database,
                         tidy::ClangTidyContext &Context) {
  const std::string Path = tooling::getAbsolutePath(Source);
  const std::vector<tooling::CompileCommand> Commands =
      Database.getCompileCommands(Path);
  if (Commands.size() != 1)
    return {};
  const tooling::CompileCommand &Command = Commands.front();
  const std::optional<std::string> Input = inputOf(Command);
  if (!Input)
    return {};
  const tooling::ArgumentsAdjuster Adjust =
      tooling::combineAdjusters(tooling::getClangStripOutputAdjuster(),
                                tooling::getClangStripDependencyFileAdjuster());
  std::string Key = Command.Directory;
  for (const std::string &Word :
       Adjust(Command.CommandLine, Command.Filename)) {
    Key += '\0';
    // The extension says which language it is.
    Key += Word == *Input ? sys::path::extension(Word).str() : Word;
  }
  Key += '\0';
  Key += tidy::configurationAsText(
      Context.getOptionsForFile(absoluteIn(Command.Directory, *Input)));
  return Key;
}

std::vector<Pool::Jobs> batches(ArrayRef<std::string> Sources,
                                const Pool::Jobs &Unknown,
                                const tooling::CompilationDatabase &Database,
                                tidy::ClangTidyContext &Context) {
  std::vector<Pool::Jobs> Result;
  if (Unknown.size() < LeastSize)
    return Result;
  MapVector<std::string, Pool::Jobs, std::map<std::string, unsigned>> Groups;
  for (const size_t Job : Unknown)
    if (std::string Key = keyOf(Sources[Job], Database, Context); !Key.empty())
      Groups[Key].push_back(Job);
  for (auto &[Key, Jobs] : Groups)
    if (Jobs.size() >= LeastSize)
      Result.push_back(std::move(Jobs));
  return Result;
}

} // namespace torchtidy::tool
