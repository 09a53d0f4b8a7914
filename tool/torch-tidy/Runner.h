// Runs the checks over the source files.
#ifndef TORCHTIDY_TOOL_RUNNER_H
#define TORCHTIDY_TOOL_RUNNER_H

#include "clang-tidy/ClangTidyDiagnosticConsumer.h"
#include "clang/Tooling/CompilationDatabase.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <string>
#include <vector>

namespace torchtidy::tool {

struct RunSettings {
  bool FixesFromNotes = false;
  bool CheckProfile = false;
  std::string ProfilePrefix;
};

struct RunResult {
  /// What is shown: after NOLINT and the filters, each once.
  std::vector<clang::tidy::ClangTidyError> Findings;
  struct Failure {
    std::string Source;
    std::string Reason;
  };
  /// Sources that were not analysed.
  std::vector<Failure> Failures;
};

/// clang-tidy's own runClangTidy does not let anyone come between the compiler
/// instance and the checks, which is where the user scope is set, and hides
/// which files failed.
RunResult runChecks(clang::tidy::ClangTidyContext &Context,
                    const clang::tooling::CompilationDatabase &Database,
                    llvm::ArrayRef<std::string> Sources,
                    llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> FS,
                    const RunSettings &Settings);

} // namespace torchtidy::tool

#endif
