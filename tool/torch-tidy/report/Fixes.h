// What fixes do to the sources: shown before, and counted after.
#ifndef TORCHTIDY_TOOL_REPORT_FIXES_H
#define TORCHTIDY_TOOL_REPORT_FIXES_H

#include "clang-tidy/ClangTidy.h"
#include "report/Report.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace torchtidy::tool {

/// The fix that clang-tidy applies of a finding: its own, or, FromNotes, that
/// of the only note that has one; null for none.
const llvm::StringMap<clang::tooling::Replacements> *
fixOf(const clang::tidy::ClangTidyError &Finding, bool FromNotes);

/// --show-fixes: prints what --fix would do as one unified diff for each file,
/// with paths from the current folder, for patch -p1 and git apply. False where
/// that fails, which has been said then.
bool showFixes(const Findings &All, bool FromNotes,
               clang::tidy::ClangTidyContext &Context,
               llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> FS);

/// Prints what clang-tidy has said while it applied fixes, without its own
/// count, and tells how many findings are fixed and how many remain. Takes the
/// fixed ones out of All, unless some edits could not be made: nobody knows of
/// which findings they are.
void concludeFixes(llvm::StringRef Said, Findings &All, bool FromNotes,
                   bool Quiet);

} // namespace torchtidy::tool

#endif
