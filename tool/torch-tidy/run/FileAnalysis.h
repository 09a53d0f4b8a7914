// The analysis of one source file, with LibTorch's headers precompiled where
// that changes nothing.
#ifndef TORCHTIDY_TOOL_RUN_FILEANALYSIS_H
#define TORCHTIDY_TOOL_RUN_FILEANALYSIS_H

#include "cache/Reads.h"
#include "headers/HeaderCache.h"
#include "run/FileResult.h"
#include "run/Pool.h"
#include "run/UserScope.h"
#include "clang/Tooling/CompilationDatabase.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace torchtidy::tool {

using ContextMaker =
    std::function<std::unique_ptr<clang::tidy::ClangTidyContext>()>;

struct AnalysisSettings {
  bool FixesFromNotes = false;
  bool CheckProfile = false;
  std::string ProfilePrefix;
  HeaderCacheSettings Cache;
  /// Says of each file on standard error how it was parsed.
  bool Explain = false;
  /// What was found is not kept for the next run, and what was is not used.
  bool KeepsNothing = false;
  /// What was found by earlier runs is not used.
  bool IsFresh = false;
  /// Each is analysed with sources that its command includes: what one of them
  /// declares may clash with another, and a header need not have been written
  /// to be included twice.
  bool ArePrograms = false;
  /// What a source tree as a whole does not run is left out of what is shown.
  bool IsTree = false;
  /// Nobody has configured the files: conditions that hide LibTorch are tried.
  bool AreInferred = false;
  /// The sources that a folder or a glob has brought, which nobody named: left
  /// out where they do not use LibTorch and only torch checks are enabled.
  llvm::StringSet<> Gathered;
  /// The macros that the build files of such a tree define: InferredFlags.
  std::map<std::string, std::string> Definitions;
};

/// clang-tidy's own runClangTidy does not let anyone come between the compiler
/// instance and the checks, which is where the user scope and the precompiled
/// headers are set, and hides which files failed. Each attempt gets a context
/// of its own: its result can be thrown away and made again.
class FileAnalysis {
public:
  FileAnalysis(const ContextMaker &MakeContext,
               const clang::tooling::CompilationDatabase &Database,
               llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> FS,
               const AnalysisSettings &Settings)
      : MakeContext(MakeContext), Database(Database), FS(std::move(FS)),
        Settings(Settings), Cache(Settings.Cache) {
    llvm::sys::fs::current_path(Start);
  }

  /// Crashed: it was tried before, with a precompiled header or with checks
  /// that are not torch-tidy's, and crashed.
  FileResult run(const std::string &Source, bool Crashed, JobControl &Control);

  /// Numbers of sources that share a precompiled header.
  using Class = std::vector<size_t>;
  /// Sources: with one compile command (Batches.h). Opens the precompiled
  /// header for the first, and calls Serve. A process that is forked in there
  /// finds it open when it run()s one of the first class, once; the others are
  /// run as always. Returns where there is no such header, without a call.
  void share(llvm::ArrayRef<std::string> Sources, JobControl &Control,
             llvm::function_ref<void(std::vector<Class>)> Serve);
  /// In Serve: reads declarations, so that processes which are forked later
  /// have them.
  void readAhead(llvm::ArrayRef<uint64_t> Declarations);
  /// In Serve: those that earlier batches have needed; empty where there was
  /// none.
  std::vector<uint64_t> readBefore() const;
  /// In Serve: tells later batches.
  void tellRead(std::vector<uint64_t> Declarations) const;
  /// What the last run() has read that was not there when its process began.
  std::vector<uint64_t> takeRead() { return std::move(DeclarationsRead); }

  HeaderCache &headers() { return Cache; }

private:
  using Definitions = llvm::ArrayRef<std::string>;
  struct Attempt;
  class Action;
  class ActionFactory;
  struct Shared;

  void explain(const std::string &Source, const llvm::Twine &What);
  /// Of the checks that are enabled for the file, those of torch-tidy.
  std::unique_ptr<clang::tidy::ClangTidyContext>
  contextOfTorchChecks(llvm::StringRef Source) const;
  FileResult runNoted(const std::string &Source, bool Crashed,
                      JobControl &Control);
  /// Macros are defined as well, each as after -D.
  Attempt attempt(const std::string &Source, HeaderCache *Headers,
                  JobControl &Control, Definitions Macros);
  /// An attempt with what is shared; nothing where Source is none for it.
  std::optional<Attempt> attemptShared(const std::string &Source);
  /// The source as its compile command names it; nothing where it has several.
  std::optional<std::string> commandsInput(const std::string &Source) const;
  void conclude(Attempt &Now,
                clang::tidy::ClangTidyDiagnosticConsumer &Consumer,
                EvidenceCollector &Evidences,
                clang::tidy::ClangTidyContext &Context);
  FileResult runInFull(const std::string &Source, JobControl &Control,
                       Definitions Macros);
  FileResult runAs(const std::string &Source, bool Crashed, JobControl &Control,
                   Definitions Macros);
  FileResult runAfterCrash(const std::string &Source, JobControl &Control,
                           Definitions Macros);

  const ContextMaker &MakeContext;
  const clang::tooling::CompilationDatabase &Database;
  llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> FS;
  const AnalysisSettings &Settings;
  HeaderCache Cache;
  /// Where the program was started: Clang's tools go to the folders of compile
  /// commands.
  llvm::SmallString<256> Start;
  /// Of the source that is analysed.
  bool HasTorchChecksAlone = false;
  std::string Explained;
  std::vector<std::pair<std::string, std::string>> HeaderParts;
  std::vector<uint64_t> DeclarationsRead;
  /// Where processes of a batch are to be forked; null outside share().
  const llvm::function_ref<void()> *OnShared = nullptr;
  /// What they share; null outside Serve.
  Shared *Open = nullptr;
  ReadLog *SharedLog = nullptr;
  TorchOnly AsksTorchOnly;
};

} // namespace torchtidy::tool

#endif
