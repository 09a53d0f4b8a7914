// Runs the checks over the source files.
#ifndef TORCHTIDY_TOOL_RUNNER_H
#define TORCHTIDY_TOOL_RUNNER_H

#include "clang-tidy/ClangTidyDiagnosticConsumer.h"
#include "headers/HeaderCache.h"
#include "clang/Tooling/CompilationDatabase.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <functional>
#include <string>
#include <vector>

namespace torchtidy::tool {

using ContextMaker =
    std::function<std::unique_ptr<clang::tidy::ClangTidyContext>()>;

struct RunSettings {
  bool FixesFromNotes = false;
  bool CheckProfile = false;
  std::string ProfilePrefix;
  HeaderCacheSettings Cache;
  /// Says of each file on standard error how it was parsed.
  bool Explain = false;
};

struct RunResult {
  /// What is shown: after NOLINT and the filters, each once.
  std::vector<clang::tidy::ClangTidyError> Findings;
  clang::tidy::ClangTidyStats Stats;
  struct Failure {
    std::string Source;
    std::string Reason;
  };
  /// Sources that were not analysed.
  std::vector<Failure> Failures;
};

/// clang-tidy's own runClangTidy does not let anyone come between the compiler
/// instance and the checks, which is where the user scope and the precompiled
/// headers are set, and hides which files failed. Each file gets a context of
/// its own: its result can be thrown away and made again.
RunResult runChecks(const ContextMaker &MakeContext,
                    const clang::tooling::CompilationDatabase &Database,
                    llvm::ArrayRef<std::string> Sources,
                    llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> FS,
                    const RunSettings &Settings);

} // namespace torchtidy::tool

#endif
