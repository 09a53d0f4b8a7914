#include "Runner.h"
#include "UserScope.h"
#include "clang-tidy/ClangTidy.h"
#include "clang-tidy/ClangTidyModule.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "clang/Tooling/ArgumentsAdjusters.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/Support/CrashRecoveryContext.h"

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {
namespace {

class CheckAction : public ASTFrontendAction {
public:
  CheckAction(tidy::ClangTidyContext &Context,
              tidy::ClangTidyASTConsumerFactory &Factory,
              TorchOnly &IsTorchOnly, bool &CameToParse)
      : Context(Context), Factory(Factory), IsTorchOnly(IsTorchOnly),
        CameToParse(CameToParse) {}

  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &Compiler,
                                                 StringRef File) override {
    CameToParse = true;
    // Also makes File the current file of the context.
    auto Consumer = Factory.createASTConsumer(Compiler, File);
    return IsTorchOnly(Context) ? limitToUserCode(std::move(Consumer))
                                : std::move(Consumer);
  }

private:
  tidy::ClangTidyContext &Context;
  tidy::ClangTidyASTConsumerFactory &Factory;
  TorchOnly &IsTorchOnly;
  bool &CameToParse;
};

class CheckActionFactory : public tooling::FrontendActionFactory {
public:
  CheckActionFactory(tidy::ClangTidyContext &Context,
                     IntrusiveRefCntPtr<vfs::OverlayFileSystem> FS)
      : Context(Context), ConsumerFactory(Context, std::move(FS)) {}

  std::unique_ptr<FrontendAction> create() override {
    return std::make_unique<CheckAction>(Context, ConsumerFactory, IsTorchOnly,
                                         CameToParse);
  }

  bool runInvocation(std::shared_ptr<CompilerInvocation> Invocation,
                     FileManager *Files,
                     std::shared_ptr<PCHContainerOperations> Containers,
                     DiagnosticConsumer *Consumer) override {
    // clang-tidy defines __clang_analyzer__, and code relies on it.
    Invocation->getPreprocessorOpts().SetUpStaticAnalyzer = true;
    return FrontendActionFactory::runInvocation(
        std::move(Invocation), Files, std::move(Containers), Consumer);
  }

  /// Set by the action of the next file that is parsed.
  bool CameToParse = false;

private:
  tidy::ClangTidyContext &Context;
  tidy::ClangTidyASTConsumerFactory ConsumerFactory;
  TorchOnly IsTorchOnly;
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

/// False where Clang or a check crashed.
bool runOnFile(const std::string &Source,
               const tooling::CompilationDatabase &Database,
               const tidy::ClangTidyContext &Context,
               IntrusiveRefCntPtr<vfs::OverlayFileSystem> FS,
               DiagnosticConsumer &Consumer, CheckActionFactory &Factory) {
  // One tool per file: the headers of a file are not kept in memory for the
  // next, and the numbers of errors and warnings are its own.
  auto Tool = std::make_unique<tooling::ClangTool>(
      Database, Source, std::make_shared<PCHContainerOperations>(), FS);
  Tool->appendArgumentsAdjuster(configuredArguments(Context));
  Tool->appendArgumentsAdjuster(tooling::getStripPluginsAdjuster());
  Tool->setDiagnosticConsumer(&Consumer);

  ErrorOr<std::string> Folder = FS->getCurrentWorkingDirectory();
  CrashRecoveryContext Recovery;
  Recovery.DumpStackAndCleanupOnFailure = true;
  if (Recovery.RunSafely([&] { Tool->run(&Factory); }))
    return true;
  // Nothing of what it was in the middle of can be destroyed; and it had gone
  // to the folder of the compile command.
  Tool.release();
  if (Folder)
    FS->setCurrentWorkingDirectory(*Folder);
  return false;
}

} // namespace

RunResult runChecks(tidy::ClangTidyContext &Context,
                    const tooling::CompilationDatabase &Database,
                    ArrayRef<std::string> Sources,
                    IntrusiveRefCntPtr<vfs::OverlayFileSystem> FS,
                    const RunSettings &Settings) {
  tidy::ClangTidyDiagnosticConsumer Consumer(
      Context, /*ExternalDiagEngine=*/nullptr,
      /*RemoveIncompatibleErrors=*/true, Settings.FixesFromNotes);
  DiagnosticsEngine Diagnostics(new DiagnosticIDs, new DiagnosticOptions,
                                &Consumer, /*ShouldOwnClient=*/false);
  Context.setDiagnosticsEngine(&Diagnostics);
  Context.setEnableProfiling(Settings.CheckProfile);
  Context.setProfileStoragePrefix(Settings.ProfilePrefix);

  // The findings of a run are printed at its end: a crash in one file must not
  // take those of the others with it.
  CrashRecoveryContext::Enable();
  RunResult Result;
  CheckActionFactory Factory(Context, FS);
  for (size_t I = 0; I < Sources.size(); ++I) {
    if (Sources.size() > 1) {
      SmallString<256> Path(Sources[I]);
      FS->makeAbsolute(Path);
      errs() << '[' << I + 1 << '/' << Sources.size() << "] Processing file "
             << Path << ".\n";
    }
    Consumer.clear();
    Factory.CameToParse = false;
    if (!runOnFile(Sources[I], Database, Context, FS, Consumer, Factory))
      Result.Failures.push_back({Sources[I], "the analysis crashed"});
    else if (!Factory.CameToParse)
      Result.Failures.push_back(
          {Sources[I], "Clang does not accept its compile command"});
  }
  Result.Findings = Consumer.take();
  return Result;
}

} // namespace torchtidy::tool
