// torch-tidy: clang-tidy's command line with the torch checks built in.
#include "CheckNames.h"
#include "Config.h"
#include "Explain.h"
#include "Inputs.h"
#include "Messages.h"
#include "Options.h"
#include "Report.h"
#include "Runner.h"
#include "clang-tidy/ClangTidy.h"
#include "clang-tidy/ClangTidyForceLinker.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/TargetSelect.h"

using namespace clang::tidy;
using namespace llvm;

namespace torchtidy::tool {
namespace {

IntrusiveRefCntPtr<vfs::OverlayFileSystem> makeFileSystem(const Options &Line) {
  IntrusiveRefCntPtr<vfs::OverlayFileSystem> FS(
      new vfs::OverlayFileSystem(vfs::getRealFileSystem()));
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

std::string absolutePath(StringRef Path) {
  if (Path.empty())
    return {};
  SmallString<256> Result(Path);
  sys::fs::make_absolute(Result);
  return std::string(Result);
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

int commandLineError(StringRef Message) {
  error() << Message << "; --help explains the command line\n";
  return 1;
}

/// The analysis itself, once everything is known to be in order.
int analyse(Options &Line, std::unique_ptr<ClangTidyOptionsProvider> Provider,
            IntrusiveRefCntPtr<vfs::OverlayFileSystem> FS,
            StringRef Executable) {
  Compilations Commands = loadCompilations(Line);
  std::vector<std::string> Sources =
      usableSources(Line.Sources, *Commands.Database, *FS);
  bool AllAnalysed = !Commands.Broken && Sources.size() == Line.Sources.size();

  InitializeAllTargetInfos();
  InitializeAllTargetMCs();
  InitializeAllAsmParsers();
  std::shared_ptr<ClangTidyOptionsProvider> Shared = std::move(Provider);
  auto MakeContext = [&] {
    return std::make_unique<ClangTidyContext>(
        std::make_unique<SharedOptionsProvider>(Shared),
        Line.AnalyzerAlphaCheckers, Line.ModuleHeadersParsing);
  };
  std::unique_ptr<ClangTidyContext> Context = MakeContext();
  // handleErrors() needs an engine to ask for colors.
  clang::DiagnosticsEngine Diagnostics(new clang::DiagnosticIDs,
                                       new clang::DiagnosticOptions,
                                       new clang::IgnoringDiagConsumer);
  Context->setDiagnosticsEngine(&Diagnostics);
  RunSettings Settings;
  Settings.FixesFromNotes = Line.FixNotes;
  Settings.CheckProfile = Line.CheckProfile;
  Settings.ProfilePrefix = absolutePath(Line.ProfilePrefix);
  Settings.Explain = Line.ExplainCache;
  // What a file system of its own shows is nothing that others could share.
  if (!Line.NoCache && Line.VfsOverlay.empty()) {
    Settings.Cache.Folder = absolutePath(
        Line.CacheFolder ? *Line.CacheFolder : defaultCacheFolder());
    Settings.Cache.MaxBytes = Line.CacheBytes;
    Settings.Cache.Executable = Executable.str();
  }
  auto [All, Stats, Failures] =
      runChecks(MakeContext, *Commands.Database, Sources, FS, Settings);
  for (const auto &[Source, Reason] : Failures)
    error() << "cannot analyse '" << Source << "': " << Reason << '\n';
  AllAnalysed &= Failures.empty();

  bool CompileErrors = hasCompileErrors(All);
  bool WantsFixes = Line.Fix || Line.FixErrors || Line.FixNotes;
  bool MayFix = WantsFixes && (!CompileErrors || Line.FixErrors);
  unsigned WarningsAsErrors = 0;
  limitCompileErrors(All);
  handleErrors(All, *Context,
               !MayFix         ? FB_NoFix
               : Line.FixNotes ? FB_FixNotes
                               : FB_Fix,
               WarningsAsErrors, FS);
  outs().flush();
  explainMissingHeaders(All, Commands.WithoutFlags);

  if (!Line.ExportFixes.empty() && !All.empty()) {
    std::error_code Failure;
    raw_fd_ostream OS(Line.ExportFixes, Failure, sys::fs::OF_None);
    if (Failure) {
      error() << "cannot write '" << Line.ExportFixes
              << "': " << Failure.message() << '\n';
      return 1;
    }
    exportReplacements(absolutePath(Line.Sources.front()), All, OS);
  }

  if (!Line.Quiet) {
    printSuppressed(Stats);
    if (WantsFixes && !MayFix)
      errs() << "Found compiler errors, but -fix-errors was not specified.\n"
                "Fixes have NOT been applied.\n\n";
  }

  int ExitCode = AllAnalysed ? 0 : 1;
  unsigned Gated = Line.FailOn ? countUpToLevel(All, *Line.FailOn) : 0;
  if (Gated) {
    ExitCode = 1;
    if (!Line.Quiet)
      errs() << "torch-tidy: " << Gated << " finding" << (Gated == 1 ? "" : "s")
             << " of level " << *Line.FailOn << " or below (--fail-on)\n";
  }
  if (WarningsAsErrors) {
    ExitCode = 1;
    if (!Line.Quiet)
      errs() << WarningsAsErrors
             << (WarningsAsErrors == 1 ? " warning treated as error\n"
                                       : " warnings treated as errors\n");
  } else if (CompileErrors && !Line.FixErrors) {
    ExitCode = 1;
    if (!Line.Quiet)
      errs() << "Found compiler error(s).\n";
  }
  return ExitCode;
}

int run(Options Line, StringRef Executable) {
  if (!Line.Explain.empty())
    return explain(Line.Explain, Executable);

  auto FS = makeFileSystem(Line);
  if (!FS)
    return 1;
  auto Provider = makeOptionsProvider(Line, FS);
  if (!Provider)
    return 1;

  // A command that prints the configuration needs no source file.
  std::string File =
      absolutePath(Line.Sources.empty() ? "dummy" : Line.Sources.front());
  ClangTidyOptions Effective = Provider->getOptions(File);
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
    return listChecks(Config, Line.AllowNoChecks);
  if (Line.DumpConfig)
    return dumpConfig(Config, Line.AnalyzerAlphaCheckers);

  if (Config.Checks.empty()) {
    if (!Line.AllowNoChecks)
      return commandLineError("no checks are enabled");
    outs() << "No checks enabled.\n";
    return 0;
  }
  if (Line.Sources.empty())
    return commandLineError("there are no source files to analyse");
  return analyse(Line, std::move(Provider), std::move(FS), Executable);
}

} // namespace
} // namespace torchtidy::tool

/// TorchTidy.so looks for it: here --load of the plugin has nothing to do.
extern "C" LLVM_ATTRIBUTE_USED LLVM_EXTERNAL_VISIBILITY const char
    torch_tidy_has_checks_built_in = 1;

int main(int Argc, const char **Argv) {
  InitLLVM Init(Argc, Argv);
  setBugReportMsg("torch-tidy crashed: please report it with the trace below "
                  "and the source file.\n");
  auto Line = torchtidy::tool::parseCommandLine(Argc, Argv);
  if (!Line)
    return 1;
  static int Anchor;
  return torchtidy::tool::run(std::move(*Line),
                              sys::fs::getMainExecutable(Argv[0], &Anchor));
}
