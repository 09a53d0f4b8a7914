#include "PrecompiledHeader.h"
#include "cache/Reads.h"
#include "headers/Doubts.h"
#include "torch/Types.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "clang/Frontend/Utils.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "clang/Serialization/ASTWriter.h"
#include "clang/Serialization/InMemoryModuleCache.h"
#include "clang/Serialization/ModuleFileExtension.h"
#include "clang/Serialization/PCHContainerOperations.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {
namespace {

/// Templates of the standard library and of LibTorch that call what a user
/// gives them. Without their bodies the user's generic lambdas, and members of
/// the user's templates, would have no instantiation to analyse, and what does
/// not fit what a template asks for would go unsaid.
bool callsBack(StringRef File) {
  static constexpr llvm::StringLiteral Names[] = {
      "stl_algo",      "stl_numeric", "predefined_ops", "std_function",
      "invoke.h",      "Parallel",    "std_thread",     "future",
      "mutex",         "shared_ptr",  "unique_ptr",     "alloc",
      "stl_construct", "/variant",    "/optional",      "/functional",
      "/tuple",        "/apply",      "custom_function"};
  return llvm::any_of(Names,
                      [&](StringRef Name) { return File.contains(Name); });
}

/// What a holder of a module hands on to it: holder(x) runs its forward().
bool runsHeldModule(const Decl *D, StringRef File) {
  const auto *Template = dyn_cast<FunctionTemplateDecl>(D);
  return Template && File.contains("pimpl") &&
         Template->getDeclName().getCXXOverloadedOperator() == OO_Call;
}

class SkipBodies : public ASTConsumer {
public:
  void Initialize(ASTContext &Context) override {
    SM = &Context.getSourceManager();
  }

  bool shouldSkipFunctionBody(Decl *D) override {
    const SourceLocation Location = SM->getExpansionLoc(D->getLocation());
    const StringRef File = SM->getFilename(Location);
    if (!SM->isInSystemHeader(Location) && !torch::isLibraryPath(File))
      return false;
    const bool IsTemplate = isa<FunctionTemplateDecl>(D) || D->isTemplated();
    return !IsTemplate || !(callsBack(File) || runsHeldModule(D, File));
  }

private:
  const SourceManager *SM = nullptr;
};

/// Notes which files the includes of the header itself are, and what is asked
/// for in all.
class IncludeNotes : public PPCallbacks {
public:
  IncludeNotes(const SourceManager &SM, PrecompiledHeaderResult &Result)
      : SM(SM), Result(Result) {}

  void InclusionDirective(SourceLocation HashLoc, const Token &, StringRef Name,
                          bool IsAngled, CharSourceRange,
                          OptionalFileEntryRef File, StringRef, StringRef,
                          const clang::Module *, bool,
                          SrcMgr::CharacteristicKind) override {
    asks(HashLoc, Name, IsAngled);
    if (File)
      Result.Includes.add(SM.getFilename(SM.getExpansionLoc(HashLoc)),
                          File->getName());
    if (File && SM.isInMainFile(HashLoc))
      Result.Entries.push_back(File->getName().str());
  }

  void HasInclude(SourceLocation Loc, StringRef Name, bool IsAngled,
                  OptionalFileEntryRef, SrcMgr::CharacteristicKind) override {
    asks(Loc, Name, IsAngled);
  }

private:
  void asks(SourceLocation Loc, StringRef Name, bool IsAngled) {
    if (sys::path::is_absolute(Name))
      return;
    Result.Lookups.Names.insert(Name.str());
    if (!IsAngled)
      Result.Lookups.Beside.emplace(
          sys::path::parent_path(SM.getFilename(SM.getExpansionLoc(Loc))),
          Name.str());
  }

  const SourceManager &SM;
  PrecompiledHeaderResult &Result;
};

class PrecompileAction : public GeneratePCHAction {
public:
  /// Doubtful: null where there is no base.
  PrecompileAction(PrecompiledHeaderResult &Result,
                   std::shared_ptr<PCHBuffer> Buffer, Doubts *Doubtful)
      : Result(Result), Buffer(std::move(Buffer)), Doubtful(Doubtful) {}

  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &Compiler,
                                                 StringRef File) override {
    Compiler.getPreprocessor().addPPCallbacks(
        std::make_unique<IncludeNotes>(Compiler.getSourceManager(), Result));
    for (const HeaderSearchOptions::Entry &Folder :
         Compiler.getHeaderSearchOpts().UserEntries)
      Result.Lookups.Folders.push_back(Folder.Path);
    std::vector<std::unique_ptr<ASTConsumer>> Consumers;
    Consumers.push_back(std::make_unique<PCHGenerator>(
        Compiler.getPreprocessor(), Compiler.getModuleCache(),
        (File + ".pch").str(), /*isysroot=*/"", Buffer,
        ArrayRef<std::shared_ptr<ModuleFileExtension>>(),
        /*AllowASTWithErrors=*/false,
        // Installing LibTorch again changes the times of its headers, not them.
        // With times in it, Clang would not know a header again that was read.
        /*IncludeTimestamps=*/false));
    Consumers.push_back(std::make_unique<SkipBodies>());
    return std::make_unique<MultiplexConsumer>(std::move(Consumers));
  }

  void ExecuteAction() override {
    if (Doubtful)
      Doubtful->watch(getCompilerInstance().getPreprocessor());
    GeneratePCHAction::ExecuteAction();
  }

private:
  PrecompiledHeaderResult &Result;
  std::shared_ptr<PCHBuffer> Buffer;
  Doubts *Doubtful;
};

class AllFiles : public DependencyCollector {
public:
  bool needSystemDependencies() override { return true; }
};

/// Keeps the first error.
class FirstError : public DiagnosticConsumer {
public:
  void HandleDiagnostic(DiagnosticsEngine::Level Level,
                        const Diagnostic &Info) override {
    DiagnosticConsumer::HandleDiagnostic(Level, Info);
    if (Level < DiagnosticsEngine::Error || !Text.empty())
      return;
    SmallString<128> Message;
    Info.FormatDiagnostic(Message);
    Text = Message.str();
  }
  std::string Text;
};

} // namespace

void useSharedOptions(CompilerInvocation &Command) {
  Command.getLangOpts().PCHInstantiateTemplates = true;
}

/// The names of the files and folders in it.
static StringSet<> entriesOf(StringRef Folder, vfs::FileSystem &FS) {
  StringSet<> Result;
  std::error_code Failure;
  for (vfs::directory_iterator It = FS.dir_begin(Folder, Failure), End;
       It != End && !Failure; It.increment(Failure))
    Result.insert(sys::path::filename(It->path()));
  return Result;
}

static std::string absolutePath(StringRef Path, vfs::FileSystem &FS) {
  SmallString<256> Result(Path);
  FS.makeAbsolute(Result);
  return std::string(Result);
}

static void dropUserFolders(HeaderSearchOptions &Search, vfs::FileSystem &FS) {
  using Entry = HeaderSearchOptions::Entry;
  auto IsUsers = [](const Entry &Each) {
    return Each.Group == frontend::Quoted || Each.Group == frontend::Angled ||
           Each.Group == frontend::After;
  };
  ReadLog *const Log = ReadLog::current();
  std::vector<StringSet<>> Entries;
  StringSet<> Known;
  // Any file that a folder of the user's gets or loses would matter if its
  // whole listing were noted.
  std::vector<bool> AreUsers;
  {
    const ReadLog::Pause Unnoted;
    for (const Entry &Each : Search.UserEntries) {
      Entries.push_back(entriesOf(Each.Path, FS));
      const StringSet<> &Names = Entries.back();
      const bool IsLibTorch = Names.contains("torch") ||
                              Names.contains("ATen") || Names.contains("c10");
      AreUsers.push_back(!IsLibTorch && IsUsers(Each));
      if (!AreUsers.back())
        for (const auto &Name : Names)
          Known.insert(Name.getKey());
    }
  }
  for (const char *Name : {"torch", "ATen", "c10"})
    Known.insert(Name);
  std::vector<Entry> Kept;
  for (size_t I = 0; I < Entries.size(); ++I) {
    const std::string &Folder = Search.UserEntries[I].Path;
    if (Log && AreUsers[I])
      Log->lookedFor(absolutePath(Folder, FS), Known, Entries[I]);
    else if (Log)
      Log->listed(absolutePath(Folder, FS));
    const bool Matters = llvm::any_of(Entries[I], [&](const auto &Name) {
      return Known.contains(Name.getKey());
    });
    if (Matters || !IsUsers(Search.UserEntries[I]))
      Kept.push_back(Search.UserEntries[I]);
  }
  Search.UserEntries = std::move(Kept);
}

std::shared_ptr<CompilerInvocation>
sharedPart(const CompilerInvocation &Command, vfs::FileSystem &FS) {
  auto Shared = std::make_shared<CompilerInvocation>(Command);
  FrontendOptions Frontend;
  Frontend.DashX = Command.getFrontendOpts().DashX;
  Shared->getFrontendOpts() = Frontend;
  Shared->getDependencyOutputOpts() = DependencyOutputOptions();
  Shared->getDiagnosticOpts().DiagnosticLogFile.clear();
  Shared->getDiagnosticOpts().DiagnosticSerializationFile.clear();
  CodeGenOptions &Code = Shared->getCodeGenOpts();
  Code.MainFileName.clear();
  Code.DebugCompilationDir.clear();
  Code.CoverageCompilationDir.clear();
  Code.CoverageDataFile.clear();
  Code.CoverageNotesFile.clear();
  Code.SplitDwarfFile.clear();
  Code.SplitDwarfOutput.clear();
  Code.DwarfDebugFlags.clear();
  Code.CommandLineArgs.clear();
  PreprocessorOptions &Preprocessor = Shared->getPreprocessorOpts();
  Preprocessor.clearRemappedFiles();
  // What is put before the source is a part of the source.
  Preprocessor.Includes.clear();
  dropUserFolders(Shared->getHeaderSearchOpts(), FS);
  useSharedOptions(*Shared);
  return Shared;
}

std::vector<std::string> foldersBeside(const CompilerInvocation &Command,
                                       vfs::FileSystem &FS) {
  HeaderSearchOptions Search = Command.getHeaderSearchOpts();
  dropUserFolders(Search, FS);
  StringSet<> Shared;
  for (const HeaderSearchOptions::Entry &Each : Search.UserEntries)
    Shared.insert(Each.Path);
  std::vector<std::string> Result;
  for (const HeaderSearchOptions::Entry &Each :
       Command.getHeaderSearchOpts().UserEntries)
    if (!Shared.contains(Each.Path))
      Result.push_back(Each.Path);
  return Result;
}

PrecompiledHeaderResult precompile(const CompilerInvocation &Command,
                                   StringRef Header, Bodies Which,
                                   IntrusiveRefCntPtr<vfs::FileSystem> FS,
                                   StringRef Base, StringRef End,
                                   std::vector<std::string> BaseInputs,
                                   std::vector<std::string> BaseGraphs) {
  PrecompiledHeaderResult Result;
  std::shared_ptr<CompilerInvocation> Invocation = sharedPart(Command, *FS);
  FrontendOptions &Frontend = Invocation->getFrontendOpts();
  Frontend.ProgramAction = frontend::GeneratePCH;
  Frontend.SkipFunctionBodies = Which == Bodies::Skipped;
  Frontend.DisableFree = false;
  Frontend.Inputs.push_back(FrontendInputFile(
      Header, InputKind(Language::CXX, InputKind::Source,
                        /*PP=*/false, InputKind::HeaderUnit_None,
                        /*Header=*/true)));

  Invocation->getPreprocessorOpts().ImplicitPCHInclude = Base;
  Doubts Doubtful({End.str()}, std::move(BaseInputs), std::move(BaseGraphs));

  CompilerInstance Compiler;
  FirstError Errors;
  Compiler.setInvocation(std::move(Invocation));
  Compiler.createDiagnostics(&Errors, /*ShouldOwnClient=*/false);
  Compiler.createFileManager(std::move(FS));
  auto Inputs = std::make_shared<AllFiles>();
  Compiler.addDependencyCollector(Inputs);
  auto Buffer = std::make_shared<PCHBuffer>();
  PrecompileAction Action(Result, Buffer, Base.empty() ? nullptr : &Doubtful);
  if (Compiler.ExecuteAction(Action) && Errors.Text.empty() &&
      Buffer->IsComplete)
    Result.Content = std::move(Buffer->Data);
  else
    Result.Failure = Errors.Text.empty() ? "Clang made none" : Errors.Text;
  if (!Base.empty() && !Doubtful.reason().empty())
    Result.Failure = Doubtful.reason();
  llvm::erase(Result.Entries, End);
  Result.Inputs = Inputs->getDependencies().vec();
  return Result;
}

} // namespace torchtidy::tool
