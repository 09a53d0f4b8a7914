// What is done with the findings of a run.
#ifndef TORCHTIDY_TOOL_REPORT_CONCLUDE_H
#define TORCHTIDY_TOOL_REPORT_CONCLUDE_H

#include "Options.h"
#include "run/Runner.h"

namespace torchtidy::tool {

/// Prints the findings, applies and exports their fixes as far as that was
/// asked for, says what was not analysed, and returns the exit code.
/// AllAnalysed: nothing has failed before. AreInferred: the compile commands
/// are a guess. Executable: this program.
int conclude(const Options &Line, RunResult Done, bool AllAnalysed,
             bool AreInferred, llvm::ArrayRef<std::string> Sources,
             llvm::StringRef Executable, clang::tidy::ClangTidyContext &Context,
             llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> FS);

} // namespace torchtidy::tool

#endif
