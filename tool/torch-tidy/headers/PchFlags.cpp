#include "headers/PchFlags.h"
#include "Messages.h"
#include "headers/EntryHeaders.h"
#include "clang/Frontend/FrontendOptions.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "clang/Tooling/ArgumentsAdjusters.h"
#include "clang/Tooling/Tooling.h"
#include <map>

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {
namespace {

/// The commands as Clang understands them; nothing is parsed.
class Capture : public tooling::ToolAction {
public:
  std::shared_ptr<CompilerInvocation> Last;

  bool runInvocation(std::shared_ptr<CompilerInvocation> Invocation,
                     FileManager *, std::shared_ptr<PCHContainerOperations>,
                     DiagnosticConsumer *) override {
    // As clang-tidy does.
    Invocation->getPreprocessorOpts().SetUpStaticAnalyzer = true;
    Last = std::move(Invocation);
    return true;
  }
};

/// Sources that one header fits.
struct Group {
  std::shared_ptr<CompilerInvocation> Command;
  std::vector<std::string> Includes;
  unsigned Size = 0;
};

/// As a word for the shell.
std::string quoted(StringRef Path) {
  const bool IsPlain = llvm::all_of(Path, [](char C) {
    return isAlnum(C) || StringRef("/._-+,@%").contains(C);
  });
  if (IsPlain)
    return Path.str();
  // $(...) splits at blanks whatever is quoted in it.
  return "'" + Path.str() + "'";
}

} // namespace

int printPchFlags(const tooling::CompilationDatabase &Database,
                  ArrayRef<std::string> Sources,
                  const HeaderCacheSettings &Settings,
                  IntrusiveRefCntPtr<vfs::OverlayFileSystem> FS) {
  if (Settings.Folder.empty()) {
    error() << "--print-pch-flags needs a folder for the precompiled header: "
               "see --cache-dir\n";
    return 1;
  }
  HeaderCache Cache(Settings);
  std::map<std::string, Group> Groups;
  for (const std::string &Source : Sources) {
    Capture Captured;
    tooling::ClangTool Tool(Database, Source,
                            std::make_shared<PCHContainerOperations>(), FS);
    Tool.appendArgumentsAdjuster(tooling::getStripPluginsAdjuster());
    Tool.run(&Captured);
    if (!Captured.Last)
      continue;
    const std::vector<std::string> Includes =
        entryHeaders(Captured.Last->getFrontendOpts().Inputs.front().getFile(),
                     *Captured.Last, *FS)
            .LibTorch;
    if (Includes.empty())
      continue;
    Group &Fitting =
        Groups[Cache.key(*Captured.Last, Includes, Bodies::Kept, *FS)];
    Fitting.Command = Captured.Last;
    Fitting.Includes = Includes;
    ++Fitting.Size;
  }
  if (Groups.empty()) {
    error() << "none of the sources includes LibTorch\n";
    return 1;
  }
  Group &Most = llvm::max_element(Groups, [](const auto &A, const auto &B) {
                  return A.second.Size < B.second.Size;
                })->second;
  if (Most.Size < Sources.size())
    warning() << "the header fits " << Most.Size << " of " << Sources.size()
              << " sources: the others include LibTorch in another way, or not "
                 "at all, or are compiled with other options; analyse them "
                 "without these options\n";
  const std::optional<HeaderCache::Entry> Header =
      Cache.get(*Most.Command, Most.Includes, FS, Bodies::Kept);
  if (!Header) {
    error() << "LibTorch's headers cannot be precompiled: "
            << Cache.takeTrouble() << '\n';
    return 1;
  }
  if (StringRef(Header->Path).find_first_of(" \t\n") != StringRef::npos)
    warning() << "the folder of the cache has a blank in its name, at which a "
                 "shell splits $(...): name another with --cache-dir\n";
  outs() << "-extra-arg=-fpch-instantiate-templates -extra-arg=-include-pch "
            "-extra-arg="
         << quoted(Header->Path) << '\n';
  return 0;
}

} // namespace torchtidy::tool
