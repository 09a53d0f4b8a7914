// What is done with the findings of a run.
#ifndef TORCHTIDY_TOOL_REPORT_CONCLUDE_H
#define TORCHTIDY_TOOL_REPORT_CONCLUDE_H

#include "report/Selection.h"
#include "run/Runner.h"

namespace torchtidy::tool {

/// What has gone before.
struct Analysed {
  RunResult Result;
  llvm::ArrayRef<std::string> Sources;
  /// Nothing has failed.
  bool InWhole;
  /// The compile commands are a guess.
  bool AreInferred;
  Selection Selected;
  /// This program.
  llvm::StringRef Executable;
};

/// Prints the findings, applies and exports their fixes as far as that was
/// asked for, says what was not analysed, and returns the exit code.
int conclude(const Options &Line, Analysed Given,
             clang::tidy::ClangTidyContext &Context,
             llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> FS);

} // namespace torchtidy::tool

#endif
