#include "run/AnalysisAction.h"
#include "headers/Includes.h"
#include "headers/PrecompiledHeader.h"
#include "run/HiddenCode.h"
#include "torch/Types.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Lex/HeaderSearch.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "clang/Serialization/ASTDeserializationListener.h"
#include "clang/Serialization/ASTReader.h"
#include "llvm/Support/Path.h"

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {

std::string FileAnalysis::Attempt::error(bool AreExpected) const {
  std::string First;
  for (const tidy::ClangTidyError &Finding : Result.Findings) {
    if (Finding.DiagLevel != tidy::ClangTidyError::Error ||
        !StringRef(Finding.DiagnosticName).starts_with("clang-diagnostic"))
      continue;
    const StringRef Missing = missingHeader(Finding.Message.Message);
    if (!Missing.empty() && !isOfLibTorch(Missing))
      return {};
    const bool IsExpected =
        AreExpected && !torch::isLibraryPath(Finding.Message.FilePath);
    if (First.empty() && !IsExpected)
      First = Finding.Message.Message;
  }
  return First;
}

std::string FileAnalysis::Attempt::doubt(bool AreErrorsExpected) const {
  for (const Command &Each : WithHeader) {
    if (!Each.Parsed)
      return "Clang rejects the precompiled header";
    if (!Each.Doubtful->reason().empty())
      return Each.Doubtful->reason();
  }
  // Where sources clash they do so in full, too.
  const std::string Error = IsProgram ? "" : error(AreErrorsExpected);
  return Error.empty() ? "" : "it has compile errors (" + Error + ")";
}

std::string FileAnalysis::Shared::keyOf(StringRef Input,
                                        vfs::FileSystem &Files) const {
  const EntryHeaders Includes = entryHeaders(Input, *Command, Files);
  return Includes.LibTorch.empty()
             ? ""
             : HeaderCache::extensionKey(BaseInputs, Includes);
}

namespace {

/// Notes which declarations are read from a precompiled header.
class ReadDeclarations : public ASTDeserializationListener {
public:
  explicit ReadDeclarations(std::vector<uint64_t> &Ids) : Ids(Ids) {}
  void DeclRead(GlobalDeclID Id, const Decl *) override {
    Ids.push_back(Id.getRawValue());
  }

private:
  std::vector<uint64_t> &Ids;
};

/// What a precompiled header has brought is none of the user's. Nor is the
/// source that opened it for others, which nothing includes.
std::vector<std::string> userFiles(const SourceManager &SM) {
  const SourceLocation Main = SM.getLocForStartOfFile(SM.getMainFileID());
  std::vector<std::string> Result;
  for (unsigned I = 0; I < SM.local_sloc_entry_size(); ++I) {
    const SrcMgr::SLocEntry &Entry = SM.getLocalSLocEntry(I);
    if (!Entry.isFile() ||
        SrcMgr::isSystem(Entry.getFile().getFileCharacteristic()) ||
        (Entry.getFile().getIncludeLoc().isInvalid() &&
         Entry.getOffset() != Main.getRawEncoding()))
      continue;
    const OptionalFileEntryRef File =
        Entry.getFile().getContentCache().OrigEntry;
    if (!File || torch::isLibraryPath(File->getName()))
      continue;
    const StringRef Path = File->getFileEntry().tryGetRealPathName();
    if (!Path.empty())
      Result.push_back(Path.str());
  }
  llvm::sort(Result);
  Result.erase(llvm::unique(Result), Result.end());
  return Result;
}

/// Lets no file of the user's be entered twice: in a source of its own it was
/// enough that this includes it once. What is made to be included again and
/// again has another ending.
class OnlyOnce : public PPCallbacks {
public:
  explicit OnlyOnce(Preprocessor &PP) : PP(PP) {}

  void FileChanged(SourceLocation Loc, FileChangeReason Why,
                   SrcMgr::CharacteristicKind Kind, FileID) override {
    const SourceManager &SM = PP.getSourceManager();
    if (Why != EnterFile || SrcMgr::isSystem(Kind))
      return;
    const OptionalFileEntryRef File =
        SM.getFileEntryRefForID(SM.getFileID(Loc));
    if (!File)
      return;
    const StringRef Ending = sys::path::extension(File->getName());
    if (Ending != ".def" && Ending != ".inc")
      PP.getHeaderSearchInfo().MarkFileIncludeOnce(*File);
  }

private:
  Preprocessor &PP;
};

/// Notes whether a source asks for the time, which no file that it reads tells.
class AsksForTime : public PPCallbacks {
public:
  explicit AsksForTime(bool &Found) : Found(Found) {}

  void MacroExpands(const Token &Name, const MacroDefinition &Macro,
                    SourceRange, const MacroArgs *) override {
    const MacroInfo *Info = Macro.getMacroInfo();
    if (!Info || !Info->isBuiltinMacro())
      return;
    const StringRef Text = Name.getIdentifierInfo()->getName();
    Found |=
        Text == "__DATE__" || Text == "__TIME__" || Text == "__TIMESTAMP__";
  }

private:
  bool &Found;
};

} // namespace

std::unique_ptr<ASTConsumer>
FileAnalysis::Action::CreateASTConsumer(CompilerInstance &Compiler,
                                        StringRef File) {
  Whole.CameToParse = true;
  // Also makes File the current file of the context.
  auto Consumer = Factory.createASTConsumer(Compiler, File);
  return withUserCode(std::move(Consumer), /*Limits=*/IsTorchOnly,
                      [this](ASTContext &AST, ArrayRef<Decl *> Scope) {
                        if (!Whole.Comments.empty())
                          llvm::append_range(Whole.PartlySeen,
                                             partlySeen(AST, Scope));
                        if (!IsTorchOnly)
                          return;
                        Whole.Functions.collect(AST, Scope, Whole.IsTree);
                        if (Now)
                          Now->Doubtful->judge(AST, Scope);
                      });
}

void FileAnalysis::Action::ExecuteAction() {
  if (!Open)
    return parse();
  Open->Parser = this;
  Open->Owner.Open = Open;
  (*Open->Owner.OnShared)();
  Open->Owner.Open = nullptr;
}

void FileAnalysis::Action::parse(FileEntryRef Source) {
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

void FileAnalysis::Action::parse() {
  if (Now) {
    Now->Parsed = true;
    Now->Doubtful->watch(getCompilerInstance().getPreprocessor());
  }
  if (Whole.IsProgram) {
    Preprocessor &PP = getCompilerInstance().getPreprocessor();
    PP.addPPCallbacks(std::make_unique<OnlyOnce>(PP));
  }
  getCompilerInstance().getPreprocessor().addPPCallbacks(
      std::make_unique<AsksForTime>(Whole.HasAskedForTime));
  watchHiddenCode(getCompilerInstance().getPreprocessor(), Whole.Result.Hidden);
  const NolintCollector Nolints(getCompilerInstance().getPreprocessor(),
                                Whole.Comments);
  ASTFrontendAction::ExecuteAction();
  Whole.Result.UserFiles = userFiles(getCompilerInstance().getSourceManager());
}

std::unique_ptr<FrontendAction> FileAnalysis::ActionFactory::create() {
  return std::make_unique<Action>(
      ConsumerFactory, IsTorchOnly, Whole,
      HasHeader ? &Whole.WithHeader.back() : nullptr, Open);
}

bool FileAnalysis::ActionFactory::runInvocation(
    std::shared_ptr<CompilerInvocation> Invocation, FileManager *Files,
    std::shared_ptr<PCHContainerOperations> Containers,
    DiagnosticConsumer *Consumer) {
  // clang-tidy defines __clang_analyzer__, and code relies on it.
  Invocation->getPreprocessorOpts().SetUpStaticAnalyzer = true;
  // Clang is not to tell how many warnings and errors there are: runChecks()
  // does, of the attempt that counts. Nothing else depends on it here.
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
    if (!IsTorchOnly) {
      Whole.Reason = "stock checks are enabled for it";
      Control.offerRetry();
    } else if (Cache) {
      HasHeader = usePrecompiledHeader(*Invocation, Inputs.front());
    }
  }
  // Each source is then parsed for itself.
  if (Open && !HasHeader)
    return true;
  return FrontendActionFactory::runInvocation(std::move(Invocation), Files,
                                              std::move(Containers), Consumer);
}

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

bool FileAnalysis::ActionFactory::usePrecompiledHeader(
    CompilerInvocation &Invocation, const FrontendInputFile &Input) {
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
  Cache->OnWait = [this](pid_t Other) { Control.waitsFor(Other); };
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
  Cache->OnWait = nullptr;
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

} // namespace torchtidy::tool
