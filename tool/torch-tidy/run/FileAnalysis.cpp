#include "run/FileAnalysis.h"
#include "Messages.h"
#include "Registry.h"
#include "run/AnalysisAction.h"
#include "run/HiddenCode.h"
#include "clang/Tooling/ArgumentsAdjusters.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {

/// ExtraArgs and ExtraArgsBefore of .clang-tidy.
static tooling::ArgumentsAdjuster
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

void FileAnalysis::explain(const std::string &Source, const Twine &What) {
  Explained += (Source + ": " + What + "\n").str();
}

std::unique_ptr<tidy::ClangTidyContext>
FileAnalysis::contextOfTorchChecks(StringRef Source) const {
  const std::unique_ptr<tidy::ClangTidyContext> All = MakeContext();
  All->setCurrentFile(Source);
  tidy::ClangTidyOptions Options = All->getOptions();
  Options.Checks = "-*";
  for (const CheckInfo &Each : registry())
    if (All->isCheckEnabled(Each.Name))
      Options.Checks->append(",").append(Each.Name);
  return std::make_unique<tidy::ClangTidyContext>(
      std::make_unique<tidy::DefaultOptionsProvider>(All->getGlobalOptions(),
                                                     Options),
      All->canEnableAnalyzerAlphaCheckers(),
      All->canEnableModuleHeadersParsing());
}

FileAnalysis::Attempt FileAnalysis::attempt(const std::string &Source,
                                            HeaderCache *Headers,
                                            JobControl &Control,
                                            Definitions Macros) {
  if (Open) {
    std::optional<Attempt> Done;
    if (Headers && Macros.empty())
      Done = attemptShared(Source);
    Open = nullptr;
    FS->setCurrentWorkingDirectory(Start);
    if (Done)
      return std::move(*Done);
  }
  Attempt Now;
  std::unique_ptr<tidy::ClangTidyContext> Context =
      HasTorchChecksAlone ? contextOfTorchChecks(Source) : MakeContext();
  // It reads HeaderFilterRegex when it is made.
  Context->setCurrentFile(Source);
  tidy::ClangTidyDiagnosticConsumer Consumer(
      *Context, /*ExternalDiagEngine=*/nullptr,
      /*RemoveIncompatibleErrors=*/true, Settings.FixesFromNotes);
  DiagnosticsEngine Diagnostics(new DiagnosticIDs, new DiagnosticOptions,
                                &Consumer, /*ShouldOwnClient=*/false);
  Context->setDiagnosticsEngine(&Diagnostics);
  Context->setEnableProfiling(Settings.CheckProfile);
  Context->setProfileStoragePrefix(Settings.ProfilePrefix);
  EvidenceCollector Evidences;
  Shared Sharing{*this, Now, *Context, Consumer, Evidences, nullptr, {}, {}};
  ActionFactory Factory(*Context, FS, Headers, AsksTorchOnly, Control,
                        Settings.Gathered.contains(Source), Now,
                        OnShared ? &Sharing : nullptr);
  Now.IsProgram = Settings.ArePrograms;
  Now.IsTree = Settings.IsTree;

  tooling::ClangTool Tool(Database, Source,
                          std::make_shared<PCHContainerOperations>(), FS);
  // Clang goes on with the name that it guesses: a variable of an unknown type
  // Nest becomes one of another type that is spelled like it.
  Tool.appendArgumentsAdjuster(tooling::getInsertArgumentAdjuster(
      "-fno-spell-checking", tooling::ArgumentInsertPosition::BEGIN));
  Tool.appendArgumentsAdjuster(configuredArguments(*Context));
  for (const std::string &Macro : Macros)
    Tool.appendArgumentsAdjuster(tooling::getInsertArgumentAdjuster(
        ("-D" + Macro).c_str(), tooling::ArgumentInsertPosition::END));
  Tool.appendArgumentsAdjuster(tooling::getStripPluginsAdjuster());
  Tool.setDiagnosticConsumer(&Consumer);
  Tool.setPrintErrorMessage(false);
  Tool.run(&Factory);
  conclude(Now, Consumer, Evidences, *Context);
  return Now;
}

void FileAnalysis::conclude(Attempt &Now,
                            tidy::ClangTidyDiagnosticConsumer &Consumer,
                            EvidenceCollector &Evidences,
                            tidy::ClangTidyContext &Context) {
  Now.Result.Warnings = Consumer.getNumWarnings();
  Now.Result.Errors = Consumer.getNumErrors();

  Now.Result.Findings = Consumer.take();
  Now.Result.Evidences = Evidences.take();
  Now.Result.Shortfalls = Evidences.takeShortfalls();
  Now.Result.Nolints = judge(Now.Comments, Evidences.silenceable(),
                             Now.PartlySeen, Now.Result.Errors > 0, Context);
  Now.Result.Stats = Context.getStats();
  if (!Now.CameToParse)
    Now.Result.Failure = "Clang does not accept its compile command";
  Now.Result.MayBeKept = Now.HasTorchOnly && !Now.HasAskedForTime;
  for (const Attempt::Command &Each : Now.WithHeader)
    for (const auto &Part : Each.Header.Parts)
      if (!is_contained(HeaderParts, Part))
        HeaderParts.push_back(Part);
  Now.Result.UsesNoLibTorch = Now.IsLeftOut;
  Now.Result.Functions = Now.Functions.count();
  Now.Result.Written = Now.Functions.takeWritten();
  Now.Result.Unanalysed = Now.Functions.countWithErrors(Now.Result.Findings);
}

FileResult FileAnalysis::run(const std::string &Source, bool Crashed,
                             JobControl &Control) {
  std::optional<ReadLog> Own;
  if (!SharedLog)
    Own.emplace(Settings.Cache.Folder);
  ReadLog &Log = Own ? *Own : *SharedLog;
  // Of a batch that this process was forked for.
  OnShared = nullptr;
  if (Crashed)
    Open = nullptr;
  if (!Open)
    FS->setCurrentWorkingDirectory(Start);
  FileResult Result = runNoted(Source, Crashed, Control);
  Result.Explained = std::move(Explained);
  Result.Headers = std::move(HeaderParts);
  Result.MayBeKept &=
      !Crashed && !Settings.KeepsNothing && Result.Failure.empty();
  if (Result.MayBeKept)
    Result.Read = Log.take();
  return Result;
}

FileResult FileAnalysis::runNoted(const std::string &Source, bool Crashed,
                                  JobControl &Control) {
  FileResult Plain = runAs(Source, Crashed, Control, {});
  if (!Settings.AreInferred || Crashed)
    return Plain;
  // Nobody has configured the file: what its conditions ask for may be as well
  // there as not. It is what has more LibTorch in it, if that can be parsed.
  const std::vector<std::string> Macros =
      mostHiding(Plain.Hidden, Settings.Definitions);
  if (Macros.empty())
    return Plain;
  Control.resume();
  FileResult Defined = runAs(Source, false, Control, Macros);
  const auto NumErrors = [](const FileResult &Result) {
    return llvm::count_if(Result.Findings, [](const auto &Finding) {
      return Finding.DiagLevel == tidy::ClangTidyError::Error;
    });
  };
  if (!Defined.Failure.empty() || NumErrors(Defined) > NumErrors(Plain))
    return Plain;
  Defined.Defined = llvm::join(Macros, " -D");
  return Defined;
}

FileResult FileAnalysis::runInFull(const std::string &Source,
                                   JobControl &Control, Definitions Macros) {
  Attempt Full = attempt(Source, nullptr, Control, Macros);
  return std::move(Full.Result);
}

FileResult FileAnalysis::runAfterCrash(const std::string &Source,
                                       JobControl &Control,
                                       Definitions Macros) {
  const std::unique_ptr<tidy::ClangTidyContext> Context = MakeContext();
  Context->setCurrentFile(Source);
  if (AsksTorchOnly(*Context)) {
    warning()
        << Source
        << ": the analysis crashed with the precompiled header and is done "
           "again in full; please report it. --no-cache avoids it\n";
    return runInFull(Source, Control, Macros);
  }
  HasTorchChecksAlone = true;
  FileResult Result = runInFull(Source, Control, Macros);
  HasTorchChecksAlone = false;
  if (Result.Failure.empty())
    Result.Failure = "the analysis crashed with checks that are not "
                     "torch-tidy's; it was done again with the torch- checks "
                     "alone";
  return Result;
}

FileResult FileAnalysis::runAs(const std::string &Source, bool Crashed,
                               JobControl &Control, Definitions Macros) {
  if (Crashed)
    return runAfterCrash(Source, Control, Macros);
  const bool HasCache = !Settings.Cache.Folder.empty();
  Attempt First = attempt(Source, HasCache ? &Cache : nullptr, Control, Macros);
  First.Result.Trouble = Cache.takeTrouble();
  if (First.WithHeader.empty()) {
    explain(Source,
            First.IsLeftOut
                ? std::string("not parsed: it does not use LibTorch")
                : "parsed in full: " + (HasCache ? First.Reason : "no cache"));
    return std::move(First.Result);
  }
  // Nobody has said how the file is compiled: most do not with another release
  // of LibTorch, or without a macro, and each parse in full takes 20 s.
  const std::string Doubt = First.doubt(Settings.AreInferred);
  if (Doubt.empty()) {
    explain(Source, "parsed with " + First.WithHeader.front().Header.Path +
                        (First.WasOpen ? ", which was open" : ""));
    return std::move(First.Result);
  }
  explain(Source, "parsed in full: " + Doubt);
  // The time begins anew.
  Control.resume();
  First = Attempt();
  return runInFull(Source, Control, Macros);
}

} // namespace torchtidy::tool
