#include "run/FileAnalysis.h"
#include "Messages.h"
#include "clang-tidy/ClangTidy.h"
#include "clang-tidy/ClangTidyModule.h"
#include "headers/Doubts.h"
#include "headers/EntryHeaders.h"
#include "headers/Includes.h"
#include "headers/PrecompiledHeader.h"
#include "run/Batches.h"
#include "run/FunctionRanges.h"
#include "run/HiddenCode.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "clang/Serialization/ASTDeserializationListener.h"
#include "clang/Serialization/ASTReader.h"
#include "clang/Tooling/ArgumentsAdjusters.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {

/// How the parse of one file went. A file with several compile commands is
/// parsed once for each.
struct FileAnalysis::Attempt {
  /// One compile command of the file.
  struct Command {
    HeaderCache::Entry Header;
    std::unique_ptr<Doubts> Doubtful;
    /// The precompiled header has been accepted.
    bool Parsed = false;
  };

  /// The frontend got as far as making a consumer, or was not asked to.
  bool CameToParse = false;
  /// It does not use LibTorch, by its text.
  bool IsLeftOut = false;
  /// The precompiled header was open, for a batch.
  bool WasOpen = false;
  /// No stock check has looked at it.
  bool HasTorchOnly = true;
  /// Those that a precompiled header is used for.
  std::vector<Command> WithHeader;
  /// Why none is used.
  std::string Reason;
  FunctionRanges Functions;
  FileResult Result;
  /// What Clang counts, with what clang-tidy leaves out of its findings.
  unsigned Warnings = 0, Errors = 0;

  /// The first compile error that LibTorch's headers may have to do with; empty
  /// where there is none. Where a header of somebody else is missing, that is
  /// why: in full it is missing as well.
  std::string error() const {
    std::string First;
    for (const tidy::ClangTidyError &Finding : Result.Findings) {
      if (Finding.DiagLevel != tidy::ClangTidyError::Error ||
          !StringRef(Finding.DiagnosticName).starts_with("clang-diagnostic"))
        continue;
      const StringRef Missing = missingHeader(Finding.Message.Message);
      if (!Missing.empty() && !isOfLibTorch(Missing))
        return {};
      if (First.empty())
        First = Finding.Message.Message;
    }
    return First;
  }

  /// Why the result may be another than that of a parse in full; empty where
  /// it is the same.
  std::string doubt() const {
    for (const Command &Each : WithHeader) {
      if (!Each.Parsed)
        return "Clang rejects the precompiled header";
      if (!Each.Doubtful->reason().empty())
        return Each.Doubtful->reason();
    }
    const std::string Error = error();
    return Error.empty() ? "" : "it has compile errors (" + Error + ")";
  }

  /// As Clang and its tools end a file, on standard error.
  void tellEnd(StringRef Source) const {
    const auto Plural = [](unsigned Count) { return Count == 1 ? "" : "s"; };
    if (Warnings)
      errs() << Warnings << " warning" << Plural(Warnings);
    if (Warnings && Errors)
      errs() << " and ";
    if (Errors)
      errs() << Errors << " error" << Plural(Errors);
    if (Warnings || Errors)
      errs() << " generated.\n";
    if (Errors)
      errs() << "Error while processing " << Source << ".\n";
  }
};

/// What the processes of a batch have in common: everything up to the moment
/// before the first line of the source is read.
struct FileAnalysis::Shared {
  FileAnalysis &Owner;
  Attempt &Now;
  tidy::ClangTidyContext &Context;
  tidy::ClangTidyDiagnosticConsumer &Consumer;
  EvidenceCollector &Evidences;
  /// Of the compile command, before a precompiled header was put into it.
  std::shared_ptr<CompilerInvocation> Command;
  /// Of the precompiled header that it begins with.
  StringSet<> BaseInputs;
  /// Which one it ends with.
  std::string Key;
  Action *Parser = nullptr;

  /// Empty where a source uses none.
  std::string keyOf(StringRef Input, vfs::FileSystem &Files) const {
    const EntryHeaders Includes = entryHeaders(Input, *Command, Files);
    return Includes.LibTorch.empty()
               ? ""
               : HeaderCache::extensionKey(BaseInputs, Includes);
  }
};

/// Notes which declarations are read from a precompiled header.
class FileAnalysis::ReadDeclarations : public ASTDeserializationListener {
public:
  explicit ReadDeclarations(std::vector<uint64_t> &Ids) : Ids(Ids) {}
  void DeclRead(GlobalDeclID Id, const Decl *) override {
    Ids.push_back(Id.getRawValue());
  }

private:
  std::vector<uint64_t> &Ids;
};

class FileAnalysis::Action : public ASTFrontendAction {
public:
  /// Now: null where no precompiled header is used. Open: null where nothing is
  /// shared.
  Action(tidy::ClangTidyASTConsumerFactory &Factory, bool IsTorchOnly,
         Attempt &Whole, Attempt::Command *Now, Shared *Open)
      : Factory(Factory), IsTorchOnly(IsTorchOnly), Whole(Whole), Now(Now),
        Open(Open) {}

  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &Compiler,
                                                 StringRef File) override {
    Whole.CameToParse = true;
    // Also makes File the current file of the context.
    auto Consumer = Factory.createASTConsumer(Compiler, File);
    if (!IsTorchOnly)
      return Consumer;
    return limitToUserCode(std::move(Consumer),
                           [this](ASTContext &AST, ArrayRef<Decl *> Scope) {
                             Whole.Functions.collect(AST, Scope);
                             if (Now)
                               Now->Doubtful->judge(AST, Scope);
                           });
  }

  void ExecuteAction() override {
    if (!Open)
      return parse();
    Open->Parser = this;
    Open->Owner.Open = Open;
    (*Open->Owner.OnShared)();
    Open->Owner.Open = nullptr;
  }

  /// In the place of the source that the action was begun for.
  void parse(FileEntryRef Source) {
    CompilerInstance &Compiler = getCompilerInstance();
    SourceManager &SM = Compiler.getSourceManager();
    SM.setMainFileID(SM.createFileID(Source, SourceLocation(), SrcMgr::C_User));
    ReadDeclarations Reading(Open->Owner.DeclarationsRead);
    Compiler.getASTReader()->setDeserializationListener(&Reading);
    parse();
    Compiler.getASTReader()->setDeserializationListener(nullptr);
    // As Clang ends a source.
    Compiler.getDiagnosticClient().EndSourceFile();
    Compiler.getPreprocessor().EndSourceFile();
  }

private:
  void parse() {
    if (Now) {
      Now->Parsed = true;
      Now->Doubtful->watch(getCompilerInstance().getPreprocessor());
    }
    watchHiddenCode(getCompilerInstance().getPreprocessor(),
                    Whole.Result.Hidden);
    ASTFrontendAction::ExecuteAction();
  }

  tidy::ClangTidyASTConsumerFactory &Factory;
  bool IsTorchOnly;
  Attempt &Whole;
  Attempt::Command *Now;
  Shared *Open;
};

class FileAnalysis::ActionFactory : public tooling::FrontendActionFactory {
public:
  /// Cache: null for a parse in full.
  ActionFactory(tidy::ClangTidyContext &Context,
                IntrusiveRefCntPtr<vfs::OverlayFileSystem> FS,
                HeaderCache *Cache, TorchOnly &AsksTorchOnly,
                JobControl &Control, bool IsGathered, Attempt &Whole,
                Shared *Open)
      : Context(Context), FS(FS), ConsumerFactory(Context, FS), Cache(Cache),
        AsksTorchOnly(AsksTorchOnly), Control(Control), IsGathered(IsGathered),
        Whole(Whole), Open(Open) {}

  std::unique_ptr<FrontendAction> create() override {
    return std::make_unique<Action>(
        ConsumerFactory, IsTorchOnly, Whole,
        HasHeader ? &Whole.WithHeader.back() : nullptr, Open);
  }

  bool runInvocation(std::shared_ptr<CompilerInvocation> Invocation,
                     FileManager *Files,
                     std::shared_ptr<PCHContainerOperations> Containers,
                     DiagnosticConsumer *Consumer) override {
    // clang-tidy defines __clang_analyzer__, and code relies on it.
    Invocation->getPreprocessorOpts().SetUpStaticAnalyzer = true;
    // Clang is not to tell how many warnings and errors there are: Attempt
    // does, of the one that counts. Nothing else depends on it here.
    Invocation->getDiagnosticOpts().ShowCarets = false;
    const auto &Inputs = Invocation->getFrontendOpts().Inputs;
    HasHeader = false;
    if (!Inputs.empty() && Inputs.front().isFile()) {
      Context.setCurrentFile(Inputs.front().getFile());
      IsTorchOnly = AsksTorchOnly(Context);
      Whole.HasTorchOnly &= IsTorchOnly;
      if (IsTorchOnly && IsGathered &&
          !mayUseLibTorch(Inputs.front().getFile(), *Invocation, *FS)) {
        Whole.CameToParse = Whole.IsLeftOut = true;
        return true;
      }
      if (!IsTorchOnly)
        Whole.Reason = "stock checks are enabled for it";
      else if (Cache)
        HasHeader = usePrecompiledHeader(*Invocation, Inputs.front());
    }
    // Each source is then parsed for itself.
    if (Open && !HasHeader)
      return true;
    return FrontendActionFactory::runInvocation(
        std::move(Invocation), Files, std::move(Containers), Consumer);
  }

private:
  /// What speaks against one from the start, or an empty string.
  static std::string obstacle(const CompilerInvocation &Invocation,
                              const FrontendInputFile &Input) {
    const PreprocessorOptions &Preprocessor = Invocation.getPreprocessorOpts();
    if (!Preprocessor.ImplicitPCHInclude.empty())
      return "its command names a precompiled header";
    if (!Preprocessor.MacroIncludes.empty())
      return "its command includes macros before it (-imacros)";
    if (Input.getKind().getLanguage() != Language::CXX)
      return "it is not C++";
    if (Input.getKind().isHeader())
      return "it is compiled as a header";
    if (Invocation.getLangOpts().Modules &&
        !Invocation.getLangOpts().CPlusPlusModules)
      return "its command enables Clang modules";
    return {};
  }

  bool usePrecompiledHeader(CompilerInvocation &Invocation,
                            const FrontendInputFile &Input) {
    Whole.Reason = obstacle(Invocation, Input);
    if (!Whole.Reason.empty())
      return false;
    EntryHeaders Includes;
    {
      // Each source of a batch looks for itself.
      std::optional<ReadLog::Pause> Unnoted;
      if (Open)
        Unnoted.emplace();
      Includes = entryHeaders(Input.getFile(), Invocation, *FS);
    }
    if (Includes.LibTorch.empty()) {
      Whole.Reason = "it includes none of LibTorch's headers";
      return false;
    }
    // Another process may be making it.
    Control.pause();
    std::optional<HeaderCache::Entry> Header =
        Cache->get(Invocation, {Includes.LibTorch.front()}, FS);
    if (Header && Open) {
      Open->Command = std::make_shared<CompilerInvocation>(Invocation);
      for (const std::string &Each : Header->Inputs)
        Open->BaseInputs.insert(Each);
      Open->Key = HeaderCache::extensionKey(Open->BaseInputs, Includes);
    }
    if (Header)
      Header = Cache->extend(std::move(*Header), Invocation, Includes, FS);
    Control.resume();
    if (!Header) {
      Whole.Reason = "there is no precompiled header";
      return false;
    }
    Control.offerRetry();
    Invocation.getPreprocessorOpts().ImplicitPCHInclude = Header->Path;
    useSharedOptions(Invocation);
    auto Doubtful =
        std::make_unique<Doubts>(Header->Files, Header->Inputs, Header->Graphs);
    Whole.WithHeader.push_back({std::move(*Header), std::move(Doubtful)});
    return true;
  }

  tidy::ClangTidyContext &Context;
  IntrusiveRefCntPtr<vfs::OverlayFileSystem> FS;
  tidy::ClangTidyASTConsumerFactory ConsumerFactory;
  HeaderCache *Cache;
  TorchOnly &AsksTorchOnly;
  JobControl &Control;
  const bool IsGathered;
  bool IsTorchOnly = false, HasHeader = false;
  Attempt &Whole;
  Shared *Open;
};

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
  std::unique_ptr<tidy::ClangTidyContext> Context = MakeContext();
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
  Now.Warnings = Consumer.getNumWarnings();
  Now.Errors = Consumer.getNumErrors();

  Now.Result.Findings = Consumer.take();
  Now.Result.Evidences = Evidences.take();
  Now.Result.Shortfalls = Evidences.takeShortfalls();
  Now.Result.Stats = Context.getStats();
  if (!Now.CameToParse)
    Now.Result.Failure = "Clang does not accept its compile command";
  Now.Result.MayBeKept = Now.HasTorchOnly;
  for (const Attempt::Command &Each : Now.WithHeader)
    for (const auto &Part : Each.Header.Parts)
      if (!is_contained(HeaderParts, Part))
        HeaderParts.push_back(Part);
  Now.Result.UsesNoLibTorch = Now.IsLeftOut;
  Now.Result.Functions = Now.Functions.count();
  Now.Result.Unanalysed = Now.Functions.countWithErrors(Now.Result.Findings);
}

std::optional<std::string>
FileAnalysis::commandsInput(const std::string &Source) const {
  SmallString<256> Path(Source);
  sys::fs::make_absolute(Start, Path);
  const std::vector<tooling::CompileCommand> Commands =
      Database.getCompileCommands(Path);
  return Commands.size() == 1 ? inputOf(Commands.front()) : std::nullopt;
}

std::optional<FileAnalysis::Attempt>
FileAnalysis::attemptShared(const std::string &Source) {
  Shared &Common = *Open;
  const std::optional<std::string> Input = commandsInput(Source);
  if (!Input || Common.keyOf(*Input, *FS) != Common.Key)
    return std::nullopt;
  if (Settings.Gathered.contains(Source) &&
      !mayUseLibTorch(*Input, *Common.Command, *FS))
    return std::nullopt;
  CompilerInstance &Compiler = Common.Parser->getCompilerInstance();
  const OptionalFileEntryRef File =
      Compiler.getFileManager().getOptionalFileRef(*Input, /*OpenFile=*/true);
  if (!File)
    return std::nullopt;
  Common.Context.setCurrentFile(*Input);
  Common.Parser->parse(*File);
  conclude(Common.Now, Common.Consumer, Common.Evidences, Common.Context);
  Common.Now.WasOpen = true;
  return std::move(Common.Now);
}

void FileAnalysis::share(ArrayRef<std::string> Sources, JobControl &Control,
                         function_ref<void(std::vector<Class>)> Serve) {
  ReadLog Log(Settings.Cache.Folder);
  SharedLog = &Log;
  const auto Served = [&] {
    std::map<std::string, Class> Others;
    std::vector<Class> All(1);
    {
      // Each source looks for itself.
      const ReadLog::Pause Unnoted;
      for (size_t I = 0; I < Sources.size(); ++I) {
        const std::optional<std::string> Input = commandsInput(Sources[I]);
        const std::string Key = Input ? Open->keyOf(*Input, *FS) : "";
        (Key == Open->Key ? All.front() : Others[Key]).push_back(I);
      }
    }
    for (auto &[Key, Each] : Others) {
      if (!Key.empty()) {
        All.push_back(std::move(Each));
        continue;
      }
      for (const size_t Alone : Each)
        All.push_back({Alone});
    }
    // The other sources do not depend on it.
    SmallString<256> Path(Sources.front());
    sys::fs::make_absolute(Start, Path);
    Log.forget(Path);
    Serve(std::move(All));
  };
  const function_ref<void()> Call = Served;
  OnShared = &Call;
  attempt(Sources.front(), &Cache, Control, {});
  OnShared = nullptr;
  SharedLog = nullptr;
}

std::vector<uint64_t> FileAnalysis::readBefore() const {
  return Cache.declarationsRead(Open->Now.WithHeader.back().Header);
}

void FileAnalysis::tellRead(std::vector<uint64_t> Declarations) const {
  Cache.setDeclarationsRead(Open->Now.WithHeader.back().Header,
                            std::move(Declarations));
}

void FileAnalysis::readAhead(ArrayRef<uint64_t> Declarations) {
  const IntrusiveRefCntPtr<ASTReader> Reader =
      Open->Parser->getCompilerInstance().getASTReader();
  for (const uint64_t Id : Declarations)
    Reader->GetDecl(GlobalDeclID(Id));
  // Some of them Clang shows its consumers when the parse begins. Ours wait for
  // its end, and looking at them takes each process a tenth of its time.
  ASTConsumer Nobody;
  Reader->StartTranslationUnit(&Nobody);
  Reader->StartTranslationUnit(nullptr);
}

/// The macros that show Hidden when they are defined, each as after -D; none
/// where that is not known.
static std::vector<std::string>
definitionsFor(const HiddenCode &Hidden,
               const std::map<std::string, std::string> &Known) {
  std::vector<std::string> Result;
  for (const std::string &Name : Hidden.Names)
    if (const auto It = Known.find(Name); It != Known.end())
      Result.push_back(It->second);
  // More is asked than whether they are there: a build file has to say.
  if (Hidden.Macro.empty())
    return Result.size() == Hidden.Names.size() ? Result
                                                : std::vector<std::string>();
  return Result.empty() ? std::vector<std::string>{Hidden.Macro} : Result;
}

/// Those that show most of what is hidden; none where nothing does.
static std::vector<std::string>
mostHiding(ArrayRef<HiddenCode> Hidden,
           const std::map<std::string, std::string> &Known) {
  std::map<std::vector<std::string>, unsigned> Lines;
  for (const HiddenCode &Each : Hidden)
    if (std::vector<std::string> Macros = definitionsFor(Each, Known);
        !Macros.empty())
      Lines[Macros] += Each.Lines;
  const auto Most = llvm::max_element(
      Lines, [](const auto &A, const auto &B) { return A.second < B.second; });
  return Most == Lines.end() ? std::vector<std::string>() : Most->first;
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
  Full.tellEnd(Source);
  return std::move(Full.Result);
}

FileResult FileAnalysis::runAs(const std::string &Source, bool Crashed,
                               JobControl &Control, Definitions Macros) {
  if (Crashed) {
    warning()
        << Source
        << ": the analysis crashed with the precompiled header and is done "
           "again in full; please report it. --no-cache avoids it\n";
    return runInFull(Source, Control, Macros);
  }
  const bool HasCache = !Settings.Cache.Folder.empty();
  Attempt First = attempt(Source, HasCache ? &Cache : nullptr, Control, Macros);
  First.Result.Trouble = Cache.takeTrouble();
  if (First.WithHeader.empty()) {
    explain(Source,
            First.IsLeftOut
                ? std::string("not parsed: it does not use LibTorch")
                : "parsed in full: " + (HasCache ? First.Reason : "no cache"));
    First.tellEnd(Source);
    return std::move(First.Result);
  }
  const std::string Doubt = First.doubt();
  if (Doubt.empty()) {
    explain(Source, "parsed with " + First.WithHeader.front().Header.Path +
                        (First.WasOpen ? ", which was open" : ""));
    First.tellEnd(Source);
    return std::move(First.Result);
  }
  explain(Source, "parsed in full: " + Doubt);
  // The time begins anew.
  Control.resume();
  First = Attempt();
  return runInFull(Source, Control, Macros);
}

} // namespace torchtidy::tool
