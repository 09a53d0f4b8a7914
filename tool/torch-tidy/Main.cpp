// torch-tidy: clang-tidy's command line with the torch checks built in.
#include "CheckNames.h"
#include "Colors.h"
#include "Config.h"
#include "Explain.h"
#include "ListChecks.h"
#include "Messages.h"
#include "Options.h"
#include "cache/Reads.h"
#include "clang-tidy/ClangTidy.h"
#include "clang-tidy/ClangTidyForceLinker.h"
#include "headers/PchFlags.h"
#include "inputs/Compilations.h"
#include "inputs/OwnHeaders.h"
#include "inputs/Sources.h"
#include "inputs/Tree.h"
#include "inputs/Unbuilt.h"
#include "report/Conclude.h"
#include "report/UnusedNolints.h"
#include "run/Programs.h"
#include "run/Unnamed.h"
#include "run/Watch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/TargetSelect.h"
#include <csignal>

using namespace clang::tidy;
using namespace llvm;

namespace torchtidy::tool {
namespace {

IntrusiveRefCntPtr<vfs::OverlayFileSystem> makeFileSystem(const Options &Line) {
  IntrusiveRefCntPtr<vfs::OverlayFileSystem> FS(new vfs::OverlayFileSystem(
      llvm::makeIntrusiveRefCnt<LoggedFileSystem>(vfs::getRealFileSystem())));
  if (!Line.StdinFilename.empty()) {
    auto Input = MemoryBuffer::getSTDIN();
    if (!Input) {
      error() << "cannot read standard input: " << Input.getError().message()
              << '\n';
      return nullptr;
    }
    IntrusiveRefCntPtr<vfs::InMemoryFileSystem> Unsaved(
        new vfs::InMemoryFileSystem);
    Unsaved->addFile(absolutePath(Line.StdinFilename), /*ModificationTime=*/0,
                     std::move(*Input));
    FS->pushOverlay(std::move(Unsaved));
  }
  if (Line.VfsOverlay.empty())
    return FS;
  auto Text = FS->getBufferForFile(Line.VfsOverlay);
  if (!Text) {
    error() << "cannot read the file of --vfsoverlay, '" << Line.VfsOverlay
            << "': " << Text.getError().message() << '\n';
    return nullptr;
  }
  IntrusiveRefCntPtr<vfs::FileSystem> Overlay = vfs::getVFSFromYAML(
      std::move(*Text), /*DiagHandler=*/nullptr, Line.VfsOverlay);
  if (!Overlay) {
    error() << "'" << Line.VfsOverlay
            << "' describes no virtual file system (--vfsoverlay)\n";
    return nullptr;
  }
  FS->pushOverlay(std::move(Overlay));
  return FS;
}

/// Each file has a context of its own, which wants to own its provider.
class SharedOptionsProvider : public ClangTidyOptionsProvider {
public:
  explicit SharedOptionsProvider(std::shared_ptr<ClangTidyOptionsProvider> Base)
      : Base(std::move(Base)) {}
  const ClangTidyGlobalOptions &getGlobalOptions() override {
    return Base->getGlobalOptions();
  }
  std::vector<OptionsSource> getRawOptions(StringRef File) override {
    return Base->getRawOptions(File);
  }

private:
  std::shared_ptr<ClangTidyOptionsProvider> Base;
};

/// For what prints the findings: where neither the command line nor a file says
/// anything about colours, the environment does. Not for the analysis, whose
/// results are kept by all options.
class PrintingOptionsProvider : public SharedOptionsProvider {
public:
  using SharedOptionsProvider::SharedOptionsProvider;
  std::vector<OptionsSource> getRawOptions(StringRef File) override {
    std::vector<OptionsSource> All = SharedOptionsProvider::getRawOptions(File);
    ClangTidyOptions Weakest;
    Weakest.UseColor = hasColors(outs());
    All.insert(All.begin(), {Weakest, "environment"});
    return All;
  }
};

/// What a file takes whose headers have to be parsed in full.
constexpr uint64_t BytesOfFullParse = uint64_t(1) << 30;

int commandLineError(StringRef Message) {
  error() << Message << "; --help explains the command line\n";
  return 1;
}

RunSettings runSettings(const Options &Line, StringRef Executable) {
  RunSettings Result;
  AnalysisSettings &Analysis = Result.Analysis;
  Analysis.FixesFromNotes = Line.FixNotes;
  Analysis.CheckProfile = Line.CheckProfile;
  Analysis.ProfilePrefix = absolutePath(Line.ProfilePrefix);
  Analysis.Explain = Line.ExplainCache;
  Analysis.IsFresh = Line.Fresh;
  // What stands in no file, or is measured, has to be found each time.
  Analysis.KeepsNothing = Line.CheckProfile || Line.HasPlugins ||
                          !Line.StdinFilename.empty() ||
                          !Line.VfsOverlay.empty();
  // What a file system of its own shows is nothing that others could share.
  if (!Line.NoCache && Line.VfsOverlay.empty()) {
    Analysis.Cache.Folder = absolutePath(
        Line.CacheFolder ? *Line.CacheFolder : defaultCacheFolder());
    Analysis.Cache.MaxBytes = Line.CacheBytes;
    Analysis.Cache.Executable = Executable.str();
  }
  Result.Processes.Jobs = Line.Jobs ? Line.Jobs : defaultJobs(BytesOfFullParse);
  Result.Processes.Timeout = std::chrono::seconds(Line.Timeout);
  return Result;
}

/// Whether these are all that have a compile command.
bool holdAll(ArrayRef<std::string> Sources,
             const clang::tooling::CompilationDatabase &Database) {
  StringSet<> Known;
  for (const std::string &Source : Sources)
    Known.insert(comparablePath(Source));
  return llvm::all_of(Database.getAllFiles(), [&](const std::string &File) {
    return Known.contains(comparablePath(File));
  });
}

/// The programs that are to be analysed in whole: Sources are those that the
/// command line means, Analysed those of them that this run looks at, and Done
/// what they came to.
std::vector<SourceProgram> programsOf(ArrayRef<std::string> Sources,
                                      ArrayRef<std::string> Analysed,
                                      const RunResult &Done, bool IsShard,
                                      const Selection &Selected,
                                      const Compilations &Commands,
                                      IntrusiveRefCntPtr<vfs::FileSystem> FS) {
  const clang::tooling::CompilationDatabase &Database = *Commands.Database;
  std::vector<std::string> Known = Database.getAllFiles();
  if (Known.empty()) {
    llvm::append_range(Known, Sources);
    StringSet<> Roots;
    for (const std::string &Source : Sources)
      if (const std::string Root =
              projectRoot(comparablePath(folderOf(Source)), *FS);
          Roots.insert(Root).second)
        llvm::append_range(Known, sourcesBelow(Root, *FS));
    // No part of a program, but for those that are meant.
    if (Commands.Unbuilt)
      llvm::erase_if(Known, [&](const std::string &Each) {
        return Commands.Unbuilt->contains(comparablePath(Each)) &&
               !is_contained(Sources, Each);
      });
  }
  std::vector<SourceProgram> Result =
      findPrograms(Sources, Known, Database, std::move(FS));
  StringSet<> Found, WithFindings;
  for (const ClangTidyError &Each : Done.Findings)
    Found.insert(comparablePath(Each.Message.FilePath));
  for (const auto &[Source, Files] : Done.UserFiles)
    if (llvm::any_of(Files, [&](const std::string &Each) {
          return Found.contains(comparablePath(Each));
        }))
      WithFindings.insert(comparablePath(Source));
  llvm::erase_if(Result, [&](const SourceProgram &Each) {
    // The shard analyses it that has its source, and those whose sources have
    // found something and belong to it: that may be refuted.
    if (IsShard)
      return !is_contained(Analysed, Each.Source) &&
             llvm::none_of(Each.Companions, [&](const std::string &Part) {
               return WithFindings.contains(Part);
             });
    return !Selected.concerns(Each.Source) &&
           llvm::none_of(Each.Companions, [&](const std::string &Part) {
             return Selected.concerns(Part);
           });
  });
  return Result;
}

/// The analysis itself, once everything is known to be in order.
int analyse(Options &Line, std::unique_ptr<ClangTidyOptionsProvider> Provider,
            IntrusiveRefCntPtr<vfs::OverlayFileSystem> FS, Selection Selected,
            StringRef Executable) {
  Compilations Commands;
  SourceList Sources;
  // Without a name all would be meant; where nothing has changed, nothing is.
  if (!Line.Sources.empty() || !Line.BuildPath.empty()) {
    Commands = loadCompilations(Line, FS);
    if (!Commands.Database)
      return 1;
    if (std::string Own = ownResourceDir(Executable); !Own.empty())
      Commands.Database =
          withResourceDir(std::move(Commands.Database), std::move(Own));
    Sources = findSources(Line.Sources, Commands, *FS);
  }
  const std::vector<std::string> Meant = Sources.Usable;
  llvm::erase_if(Sources.Usable, [&](const std::string &Source) {
    return !Selected.concerns(Source);
  });
  FileTimes Times(Line.Times);
  if (!Line.Times.empty() && !Times.read())
    return 1;
  std::optional<RunResult::Part> Part;
  if (Line.ThisShard) {
    ShardPlan Plan = planShard(Sources.Usable, *Line.ThisShard, Times);
    note() << "shard " << Line.ThisShard->Number << " of "
           << Line.ThisShard->Count << ": " << Plan.Sources.size() << " of "
           << Sources.Usable.size() << " sources\n";
    Sources.Usable = std::move(Plan.Sources);
    Part = RunResult::Part{Line.ThisShard->Number, Line.ThisShard->Count,
                           std::move(Plan.Id)};
  }
  if (Sources.Usable.empty() && Selected.changed())
    note() << "no source file has changed lines (--diff)\n";
  bool AllAnalysed = !Commands.Broken && Sources.NumUnusable == 0;

  InitializeAllTargetInfos();
  InitializeAllTargetMCs();
  InitializeAllAsmParsers();
  RunSettings Settings = runSettings(Line, Executable);
  Settings.Analysis.AreInferred = Commands.Known == CommandsFor::Guessed;
  Settings.Analysis.Definitions = Commands.Definitions;
  Settings.Analysis.Gathered = Sources.Gathered;
  if (Line.PrintPchFlags)
    return printPchFlags(*Commands.Database, Sources.Usable,
                         Settings.Analysis.Cache, FS);
  if (!areConfigurationsValid(Sources.Usable, *Provider))
    return 1;
  std::shared_ptr<ClangTidyOptionsProvider> Shared = std::move(Provider);
  auto MakeContext = [&] {
    return std::make_unique<ClangTidyContext>(
        std::make_unique<SharedOptionsProvider>(Shared),
        Line.AnalyzerAlphaCheckers, Line.ModuleHeadersParsing);
  };
  ClangTidyContext Context(std::make_unique<PrintingOptionsProvider>(Shared),
                           Line.AnalyzerAlphaCheckers,
                           Line.ModuleHeadersParsing);
  // handleErrors() needs an engine to ask for colors.
  clang::DiagnosticsEngine Diagnostics(new clang::DiagnosticIDs,
                                       new clang::DiagnosticOptions,
                                       new clang::IgnoringDiagConsumer);
  Context.setDiagnosticsEngine(&Diagnostics);
  RunResult Done;
  Settings.IsQuiet = Line.Quiet;
  Settings.AreCompared = Settings.Analysis.IsTree = Line.Together;
  if (!Sources.Usable.empty())
    Done = runChecks(MakeContext, *Commands.Database, Sources.Usable, FS,
                     Settings);
  if (Line.Together && Commands.Database && !Done.Signal) {
    addPrograms(Done, MakeContext, *Commands.Database,
                programsOf(Meant, Sources.Usable, Done, Part.has_value(),
                           Selected, Commands, FS),
                FS, Settings);
    dropUnnamed(Done, Meant, FS);
  }
  tellWatched(Done.UserFiles);
  Done.ThisPart = std::move(Part);
  if (!Line.Times.empty()) {
    for (const auto &[Source, Seconds] : Done.Seconds)
      Times.set(Source, Seconds);
    AllAnalysed &= Times.write();
  }
  if (Line.UnusedNolints && Commands.Database)
    addUnusedNolints(Done,
                     getAllChecksAndOptions(Line.AnalyzerAlphaCheckers).Names,
                     AllAnalysed && Done.Failures.empty() && !Done.Signal &&
                         holdAll(Sources.Usable, *Commands.Database),
                     FS);
  for (const auto &[Source, Reason] : Done.Failures)
    error() << "cannot analyse '" << Source << "': " << Reason << '\n';
  AllAnalysed &= Done.Failures.empty();
  return conclude(Line,
                  {std::move(Done), Sources.Usable, AllAnalysed,
                   Commands.Known == CommandsFor::Guessed, std::move(Selected),
                   Executable},
                  Context, FS);
}

/// The file whose configuration is looked at before all others. It need not be
/// there: a command that prints the configuration needs no source, and of a
/// folder or a glob any file will do.
std::string configuredFile(ArrayRef<std::string> Names) {
  std::string First = absolutePath(Names.empty() ? "dummy" : Names[0]);
  if (Names.empty() || sys::fs::is_regular_file(First) ||
      (sys::fs::exists(sys::path::parent_path(First)) &&
       !sys::fs::is_directory(First)))
    return First;
  return folderOf(Names[0]) + "/dummy";
}

/// The projects of what is analysed, and the folder of the compile commands.
std::vector<std::string> watchedFolders(const Options &Line) {
  const IntrusiveRefCntPtr<vfs::FileSystem> FS = vfs::getRealFileSystem();
  std::vector<std::string> Result;
  auto Add = [&](std::string Folder) {
    if (!is_contained(Result, Folder))
      Result.push_back(std::move(Folder));
  };
  for (const std::string &Source : Line.Sources)
    Add(projectRoot(comparablePath(folderOf(Source)), *FS));
  if (Line.Sources.empty())
    Add(projectRoot(comparablePath(Line.BuildPath), *FS));
  if (!Line.BuildPath.empty())
    Add(comparablePath(Line.BuildPath));
  return Result;
}

int run(Options Line, StringRef Executable) {
  if (!Line.Explain.empty())
    return explain(Line.Explain, Executable);

  auto FS = makeFileSystem(Line);
  if (!FS)
    return 1;
  std::optional<Selection> Selected = Selection::read(Line, FS);
  if (!Selected)
    return 1;
  const ChangedLines *Changed = Selected->changed();
  if (Changed && Line.Sources.empty() && Line.BuildPath.empty())
    Line.Sources = Changed->sources();
  auto Provider = makeOptionsProvider(Line, FS);
  if (!Provider)
    return 1;

  const std::string File = configuredFile(Line.Sources);
  ClangTidyOptions Effective = Provider->getOptions(File);
  if (!areConfigurationsValid({}, *Provider))
    return 1;
  EffectiveConfig Config{*Provider, File, Effective,
                         getCheckNames(Effective, Line.AnalyzerAlphaCheckers)};
  if (Line.VerifyConfig)
    return verifyConfig(Config, Line.AnalyzerAlphaCheckers);
  if (Line.Checks)
    warnOfUnknownChecks(
        *Line.Checks, getAllChecksAndOptions(Line.AnalyzerAlphaCheckers).Names);
  if (Line.ExplainConfig)
    return explainConfig(Config);
  if (Line.ListChecks)
    return listChecks(Config.Checks, *Line.ListChecks, Line.AllowNoChecks,
                      Executable);
  if (Line.DumpConfig)
    return dumpConfig(Config, Line.AnalyzerAlphaCheckers);

  if (Config.Checks.empty()) {
    if (!Line.AllowNoChecks)
      return commandLineError("no checks are enabled");
    outs() << "No checks enabled.\n";
    return 0;
  }
  if (Line.Sources.empty() && Line.BuildPath.empty() && !Changed)
    return commandLineError(
        "there are no source files to analyse: name files or folders, or with "
        "-p the build folder whose files are meant");
  return analyse(Line, std::move(Provider), std::move(FS), std::move(*Selected),
                 Executable);
}

} // namespace
} // namespace torchtidy::tool

/// TorchTidy.so looks for it: here --load of the plugin has nothing to do.
extern "C" LLVM_ATTRIBUTE_USED LLVM_EXTERNAL_VISIBILITY const char
    // NOLINTNEXTLINE(readability-identifier-naming): a name of C
    torch_tidy_has_checks_built_in = 1;

int main(int Argc, const char **Argv) {
  InitLLVM Init(Argc, Argv);
  setBugReportMsg("torch-tidy crashed: please report it with the trace below "
                  "and the source file.\n");
#ifdef SIGXFSZ
  // A file that grows too large is an error of the write, and no crash.
  std::signal(SIGXFSZ, SIG_IGN);
#endif
  auto Line = torchtidy::tool::parseCommandLine(Argc, Argv);
  if (!Line)
    return 1;
  if (Line->Merge)
    return torchtidy::tool::mergeReports(*Line->Merge, outs());
  if (Line->Watch && !torchtidy::tool::isWatched())
    return torchtidy::tool::watch(std::vector<std::string>(Argv, Argv + Argc),
                                  torchtidy::tool::watchedFolders(*Line));
  static int Anchor;
  return torchtidy::tool::run(std::move(*Line),
                              sys::fs::getMainExecutable(Argv[0], &Anchor));
}
