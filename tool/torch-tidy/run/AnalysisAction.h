// What Clang runs for one source: the checks, with LibTorch's headers
// precompiled where that changes nothing. Only FileAnalysis needs it.
#ifndef TORCHTIDY_TOOL_RUN_ANALYSISACTION_H
#define TORCHTIDY_TOOL_RUN_ANALYSISACTION_H

#include "clang-tidy/ClangTidy.h"
#include "clang-tidy/ClangTidyDiagnosticConsumer.h"
#include "clang-tidy/ClangTidyModule.h"
#include "headers/Doubts.h"
#include "headers/EntryHeaders.h"
#include "run/Evidence.h"
#include "run/FileAnalysis.h"
#include "run/FunctionRanges.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Tooling/Tooling.h"

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
  /// AnalysisSettings::ArePrograms.
  bool IsProgram = false;
  /// AnalysisSettings::IsTree.
  bool IsTree = false;
  /// No stock check has looked at it.
  bool HasTorchOnly = true;
  /// By a macro: the same file gives something else at another time.
  bool HasAskedForTime = false;
  /// Those that a precompiled header is used for.
  std::vector<Command> WithHeader;
  /// Why none is used.
  std::string Reason;
  FunctionRanges Functions;
  /// That silence.
  std::vector<NolintComment> Comments;
  /// Where these cannot be judged.
  std::vector<FileLines> PartlySeen;
  FileResult Result;

  /// The first compile error that LibTorch's headers may have to do with; empty
  /// where there is none. Where a header of somebody else is missing, that is
  /// why: in full it is missing as well. AreExpected: those in the user's own
  /// code are no surprise.
  std::string error(bool AreExpected) const;
  /// Why the result may be another than that of a parse in full; empty where
  /// it is the same.
  std::string doubt(bool AreErrorsExpected) const;
};

/// What the processes of a batch have in common: everything up to the moment
/// before the first line of the source is read.
struct FileAnalysis::Shared {
  FileAnalysis &Owner;
  Attempt &Now;
  clang::tidy::ClangTidyContext &Context;
  clang::tidy::ClangTidyDiagnosticConsumer &Consumer;
  EvidenceCollector &Evidences;
  /// Of the compile command, before a precompiled header was put into it.
  std::shared_ptr<clang::CompilerInvocation> Command;
  /// Of the precompiled header that it begins with.
  llvm::StringSet<> BaseInputs;
  /// Which one it ends with.
  std::string Key;
  Action *Parser = nullptr;

  /// Empty where a source uses none.
  std::string keyOf(llvm::StringRef Input, llvm::vfs::FileSystem &Files) const;
};

class FileAnalysis::Action : public clang::ASTFrontendAction {
public:
  /// Now: null where no precompiled header is used. Open: null where nothing is
  /// shared.
  Action(clang::tidy::ClangTidyASTConsumerFactory &Factory, bool IsTorchOnly,
         Attempt &Whole, Attempt::Command *Now, Shared *Open)
      : Factory(Factory), IsTorchOnly(IsTorchOnly), Whole(Whole), Now(Now),
        Open(Open) {}

  std::unique_ptr<clang::ASTConsumer>
  CreateASTConsumer(clang::CompilerInstance &Compiler,
                    llvm::StringRef File) override;
  void ExecuteAction() override;
  /// In the place of the source that the action was begun for.
  void parse(clang::FileEntryRef Source);

private:
  void parse();

  clang::tidy::ClangTidyASTConsumerFactory &Factory;
  bool IsTorchOnly;
  Attempt &Whole;
  Attempt::Command *Now;
  Shared *Open;
};

class FileAnalysis::ActionFactory
    : public clang::tooling::FrontendActionFactory {
public:
  /// Cache: null for a parse in full.
  ActionFactory(clang::tidy::ClangTidyContext &Context,
                llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> FS,
                HeaderCache *Cache, TorchOnly &AsksTorchOnly,
                JobControl &Control, bool IsGathered, Attempt &Whole,
                Shared *Open)
      : Context(Context), FS(FS), ConsumerFactory(Context, FS), Cache(Cache),
        AsksTorchOnly(AsksTorchOnly), Control(Control), IsGathered(IsGathered),
        Whole(Whole), Open(Open) {}

  std::unique_ptr<clang::FrontendAction> create() override;
  bool runInvocation(std::shared_ptr<clang::CompilerInvocation> Invocation,
                     clang::FileManager *Files,
                     std::shared_ptr<clang::PCHContainerOperations> Containers,
                     clang::DiagnosticConsumer *Consumer) override;

private:
  bool usePrecompiledHeader(clang::CompilerInvocation &Invocation,
                            const clang::FrontendInputFile &Input);

  clang::tidy::ClangTidyContext &Context;
  llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> FS;
  clang::tidy::ClangTidyASTConsumerFactory ConsumerFactory;
  HeaderCache *Cache;
  TorchOnly &AsksTorchOnly;
  JobControl &Control;
  const bool IsGathered;
  bool IsTorchOnly = false, HasHeader = false;
  Attempt &Whole;
  Shared *Open;
};

} // namespace torchtidy::tool

#endif
