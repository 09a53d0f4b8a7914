// The analysis of one source file, with LibTorch's headers precompiled where
// that changes nothing.
#ifndef TORCHTIDY_TOOL_RUN_FILEANALYSIS_H
#define TORCHTIDY_TOOL_RUN_FILEANALYSIS_H

#include "headers/HeaderCache.h"
#include "run/FileResult.h"
#include "run/Pool.h"
#include "run/UserScope.h"
#include "clang/Tooling/CompilationDatabase.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <functional>
#include <map>
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
        Settings(Settings), Cache(Settings.Cache) {}

  /// Crashed: it was tried before, with a precompiled header, and crashed.
  FileResult run(const std::string &Source, bool Crashed, JobControl &Control);

  HeaderCache &headers() { return Cache; }

private:
  using Definitions = llvm::ArrayRef<std::string>;
  struct Attempt;
  class Action;
  class ActionFactory;

  void explain(const std::string &Source, const llvm::Twine &What);
  FileResult runNoted(const std::string &Source, bool Crashed,
                      JobControl &Control);
  /// Macros are defined as well, each as after -D.
  Attempt attempt(const std::string &Source, HeaderCache *Headers,
                  JobControl &Control, Definitions Macros);
  FileResult runInFull(const std::string &Source, JobControl &Control,
                       Definitions Macros);
  FileResult runAs(const std::string &Source, bool Crashed, JobControl &Control,
                   Definitions Macros);

  const ContextMaker &MakeContext;
  const clang::tooling::CompilationDatabase &Database;
  llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> FS;
  const AnalysisSettings &Settings;
  HeaderCache Cache;
  /// Of the source that is analysed.
  std::string Explained;
  std::vector<std::pair<std::string, std::string>> HeaderParts;
  TorchOnly AsksTorchOnly;
};

} // namespace torchtidy::tool

#endif
