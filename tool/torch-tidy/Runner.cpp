#include "Runner.h"
#include "Messages.h"
#include "UserScope.h"
#include "clang-tidy/ClangTidy.h"
#include "clang-tidy/ClangTidyModule.h"
#include "headers/Doubts.h"
#include "headers/EntryHeaders.h"
#include "headers/PrecompiledHeader.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "clang/Tooling/ArgumentsAdjusters.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include <tuple>

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {
namespace {

/// How the parse of one file went.
struct Attempt {
  /// The frontend got as far as making a consumer; as far as parsing.
  bool CameToParse = false, Parsed = false;
  bool Crashed = false;
  std::optional<HeaderCache::Entry> Header;
  std::unique_ptr<Doubts> Doubtful;
  std::vector<tidy::ClangTidyError> Findings;
  tidy::ClangTidyStats Stats;

  /// The first compile error; empty where there is none.
  std::string error() const {
    for (const tidy::ClangTidyError &Finding : Findings)
      if (Finding.DiagLevel == tidy::ClangTidyError::Error &&
          StringRef(Finding.DiagnosticName).starts_with("clang-diagnostic"))
        return Finding.Message.Message;
    return {};
  }
};

class CheckAction : public ASTFrontendAction {
public:
  CheckAction(tidy::ClangTidyContext &Context,
              tidy::ClangTidyASTConsumerFactory &Factory, bool IsTorchOnly,
              Attempt &Now)
      : Context(Context), Factory(Factory), IsTorchOnly(IsTorchOnly), Now(Now) {
  }

  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &Compiler,
                                                 StringRef File) override {
    Now.CameToParse = true;
    // Also makes File the current file of the context.
    auto Consumer = Factory.createASTConsumer(Compiler, File);
    if (!IsTorchOnly)
      return Consumer;
    if (!Now.Header)
      return limitToUserCode(std::move(Consumer));
    return limitToUserCode(std::move(Consumer),
                           [this](ASTContext &AST, ArrayRef<Decl *> Scope) {
                             Now.Doubtful->judge(AST, Scope);
                           });
  }

  /// The precompiled header has been accepted.
  void ExecuteAction() override {
    Now.Parsed = true;
    if (Now.Header)
      Now.Doubtful->watch(getCompilerInstance().getPreprocessor());
    ASTFrontendAction::ExecuteAction();
  }

private:
  tidy::ClangTidyContext &Context;
  tidy::ClangTidyASTConsumerFactory &Factory;
  bool IsTorchOnly;
  Attempt &Now;
};

class CheckActionFactory : public tooling::FrontendActionFactory {
public:
  /// Cache: null for a parse in full.
  CheckActionFactory(tidy::ClangTidyContext &Context,
                     IntrusiveRefCntPtr<vfs::OverlayFileSystem> FS,
                     HeaderCache *Cache, TorchOnly &AsksTorchOnly, Attempt &Now)
      : Context(Context), FS(FS), ConsumerFactory(Context, FS), Cache(Cache),
        AsksTorchOnly(AsksTorchOnly), Now(Now) {}

  std::unique_ptr<FrontendAction> create() override {
    return std::make_unique<CheckAction>(Context, ConsumerFactory, IsTorchOnly,
                                         Now);
  }

  bool runInvocation(std::shared_ptr<CompilerInvocation> Invocation,
                     FileManager *Files,
                     std::shared_ptr<PCHContainerOperations> Containers,
                     DiagnosticConsumer *Consumer) override {
    // clang-tidy defines __clang_analyzer__, and code relies on it.
    Invocation->getPreprocessorOpts().SetUpStaticAnalyzer = true;
    const auto &Inputs = Invocation->getFrontendOpts().Inputs;
    if (!Inputs.empty() && Inputs.front().isFile()) {
      Context.setCurrentFile(Inputs.front().getFile());
      IsTorchOnly = AsksTorchOnly(Context);
      if (IsTorchOnly && Cache)
        usePrecompiledHeader(*Invocation, Inputs.front());
    }
    return FrontendActionFactory::runInvocation(
        std::move(Invocation), Files, std::move(Containers), Consumer);
  }

private:
  void usePrecompiledHeader(CompilerInvocation &Invocation,
                            const FrontendInputFile &Input) {
    PreprocessorOptions &Preprocessor = Invocation.getPreprocessorOpts();
    // A header of one's own; code that is no C++; what stands before the
    // source.
    if (!Preprocessor.ImplicitPCHInclude.empty() ||
        !Preprocessor.Includes.empty() || !Preprocessor.MacroIncludes.empty() ||
        Input.getKind().getLanguage() != Language::CXX ||
        Input.getKind().isHeader() ||
        (Invocation.getLangOpts().Modules &&
         !Invocation.getLangOpts().CPlusPlusModules))
      return;
    const std::vector<std::string> Includes =
        entryHeaders(Input.getFile(), Invocation.getHeaderSearchOpts(), *FS);
    Now.Header = Cache->get(Invocation, Includes, FS);
    if (!Now.Header)
      return;
    Now.Doubtful = std::make_unique<Doubts>(Now.Header->Files);
    Preprocessor.ImplicitPCHInclude = Now.Header->Path;
    useSharedOptions(Invocation);
  }

  tidy::ClangTidyContext &Context;
  IntrusiveRefCntPtr<vfs::OverlayFileSystem> FS;
  tidy::ClangTidyASTConsumerFactory ConsumerFactory;
  HeaderCache *Cache;
  TorchOnly &AsksTorchOnly;
  bool IsTorchOnly = false;
  Attempt &Now;
};

/// ExtraArgs and ExtraArgsBefore of .clang-tidy.
tooling::ArgumentsAdjuster
configuredArguments(const tidy::ClangTidyContext &Context) {
  return [&Context](const tooling::CommandLineArguments &Args, StringRef File) {
    tidy::ClangTidyOptions Options = Context.getOptionsForFile(File);
    tooling::CommandLineArguments Result = Args;
    if (Options.ExtraArgsBefore) {
      bool HasCompiler = !Args.empty() && !StringRef(Args[0]).starts_with("-");
      Result.insert(Result.begin() + (HasCompiler ? 1 : 0),
                    Options.ExtraArgsBefore->begin(),
                    Options.ExtraArgsBefore->end());
    }
    if (Options.ExtraArgs)
      Result.insert(Result.end(), Options.ExtraArgs->begin(),
                    Options.ExtraArgs->end());
    return Result;
  };
}

class Runner {
public:
  Runner(const ContextMaker &MakeContext,
         const tooling::CompilationDatabase &Database,
         IntrusiveRefCntPtr<vfs::OverlayFileSystem> FS,
         const RunSettings &Settings)
      : MakeContext(MakeContext), Database(Database), FS(std::move(FS)),
        Settings(Settings), Cache(Settings.Cache) {}

  void run(const std::string &Source, RunResult &Result) {
    Attempt Now = attempt(Source, &Cache);
    if (const std::string Trouble = Cache.takeTrouble(); !Trouble.empty())
      note() << "LibTorch's headers are parsed in full: " << Trouble << '\n';
    if (Now.Header) {
      const std::string Reason =
          Now.Crashed   ? "it crashed"
          : !Now.Parsed ? "Clang rejects the precompiled header"
          : !Now.Doubtful->reason().empty() ? Now.Doubtful->reason()
          : !Now.error().empty() ? "it has compile errors (" + Now.error() + ")"
                                 : "";
      if (Reason.empty())
        explain(Source, "parsed with " + Now.Header->Path);
      else {
        explain(Source, "parsed in full: " + Reason);
        Now = attempt(Source, nullptr);
      }
    }
    if (Now.Crashed)
      Result.Failures.push_back({Source, "the analysis crashed"});
    else if (!Now.CameToParse)
      Result.Failures.push_back(
          {Source, "Clang does not accept its compile command"});
    llvm::move(Now.Findings, std::back_inserter(Result.Findings));
    Result.Stats.ErrorsDisplayed += Now.Stats.ErrorsDisplayed;
    Result.Stats.ErrorsIgnoredCheckFilter += Now.Stats.ErrorsIgnoredCheckFilter;
    Result.Stats.ErrorsIgnoredNOLINT += Now.Stats.ErrorsIgnoredNOLINT;
    Result.Stats.ErrorsIgnoredNonUserCode += Now.Stats.ErrorsIgnoredNonUserCode;
    Result.Stats.ErrorsIgnoredLineFilter += Now.Stats.ErrorsIgnoredLineFilter;
  }

private:
  void explain(const std::string &Source, const Twine &What) const {
    if (Settings.Explain)
      note() << Source << ": " << What << '\n';
  }

  Attempt attempt(const std::string &Source, HeaderCache *Headers) {
    Attempt Now;
    std::unique_ptr<tidy::ClangTidyContext> Context = MakeContext();
    tidy::ClangTidyDiagnosticConsumer Consumer(
        *Context, /*ExternalDiagEngine=*/nullptr,
        /*RemoveIncompatibleErrors=*/true, Settings.FixesFromNotes);
    DiagnosticsEngine Diagnostics(new DiagnosticIDs, new DiagnosticOptions,
                                  &Consumer, /*ShouldOwnClient=*/false);
    Context->setDiagnosticsEngine(&Diagnostics);
    Context->setEnableProfiling(Settings.CheckProfile);
    Context->setProfileStoragePrefix(Settings.ProfilePrefix);
    CheckActionFactory Factory(*Context, FS, Headers, AsksTorchOnly, Now);

    auto Tool = std::make_unique<tooling::ClangTool>(
        Database, Source, std::make_shared<PCHContainerOperations>(), FS);
    Tool->appendArgumentsAdjuster(configuredArguments(*Context));
    Tool->appendArgumentsAdjuster(tooling::getStripPluginsAdjuster());
    Tool->setDiagnosticConsumer(&Consumer);

    ErrorOr<std::string> Folder = FS->getCurrentWorkingDirectory();
    CrashRecoveryContext Recovery;
    Recovery.DumpStackAndCleanupOnFailure = true;
    if (!Recovery.RunSafely([&] { Tool->run(&Factory); })) {
      Now.Crashed = true;
      // Nothing of what it was in the middle of can be destroyed; and it had
      // gone to the folder of the compile command.
      Tool.release();
      if (Folder)
        FS->setCurrentWorkingDirectory(*Folder);
    }
    Now.Findings = Consumer.take();
    Now.Stats = Context->getStats();
    return Now;
  }

  const ContextMaker &MakeContext;
  const tooling::CompilationDatabase &Database;
  IntrusiveRefCntPtr<vfs::OverlayFileSystem> FS;
  const RunSettings &Settings;
  HeaderCache Cache;
  TorchOnly AsksTorchOnly;
};

/// In clang-tidy's order: by file, place, check and message. A finding in a
/// header is found through every file that includes it.
void merge(std::vector<tidy::ClangTidyError> &Findings) {
  auto Key = [](const tidy::ClangTidyError &Finding) {
    return std::tie(Finding.Message.FilePath, Finding.Message.FileOffset,
                    Finding.DiagnosticName, Finding.Message.Message);
  };
  llvm::stable_sort(
      Findings, [&](const auto &A, const auto &B) { return Key(A) < Key(B); });
  Findings.erase(
      llvm::unique(Findings, [&](const auto &A,
                                 const auto &B) { return Key(A) == Key(B); }),
      Findings.end());
}

} // namespace

RunResult runChecks(const ContextMaker &MakeContext,
                    const tooling::CompilationDatabase &Database,
                    ArrayRef<std::string> Sources,
                    IntrusiveRefCntPtr<vfs::OverlayFileSystem> FS,
                    const RunSettings &Settings) {
  // The findings of a run are printed at its end: a crash in one file must not
  // take those of the others with it.
  CrashRecoveryContext::Enable();
  RunResult Result;
  Runner Run(MakeContext, Database, FS, Settings);
  for (size_t I = 0; I < Sources.size(); ++I) {
    if (Sources.size() > 1) {
      SmallString<256> Path(Sources[I]);
      FS->makeAbsolute(Path);
      errs() << '[' << I + 1 << '/' << Sources.size() << "] Processing file "
             << Path << ".\n";
    }
    Run.run(Sources[I], Result);
  }
  merge(Result.Findings);
  return Result;
}

} // namespace torchtidy::tool
