// What fixes do to the sources: shown before, and counted after.
#ifndef TORCHTIDY_TOOL_REPORT_FIXES_H
#define TORCHTIDY_TOOL_REPORT_FIXES_H

#include "Options.h"
#include "clang-tidy/ClangTidy.h"
#include "report/Report.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace torchtidy::tool {

/// The fix that clang-tidy applies of a finding: its own, or, FromNotes, that
/// of the only note that has one; null for none.
const llvm::StringMap<clang::tooling::Replacements> *
fixOf(const clang::tidy::ClangTidyError &Finding, bool FromNotes);

/// What the fixes of all findings change, as clang-tidy does it: of two edits
/// that touch the same text the second may be left out.
struct Edits {
  Edits(const Findings &All, bool FromNotes);

  /// By the file's whole path.
  std::map<std::string, clang::tooling::Replacements> ByFile;
  size_t NumMade = 0, NumLeftOut = 0;
  /// Of each finding, in their order, whether all its edits are made.
  std::vector<bool> Fixed;
};

/// --show-fixes: prints what --fix would do as one unified diff for each file,
/// with paths from the current folder, for patch -p1 and git apply; on a
/// terminal that has colours as git colours it. Then says what --fix would make
/// of the findings. False where that fails, which has been said then.
bool showFixes(const Findings &All, const Options &Line, bool CompileErrors,
               clang::tidy::ClangTidyContext &Context,
               llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> FS);

/// Prints what clang-tidy has said while it applied fixes, without its own
/// count, and tells how many findings are fixed and how many remain. Takes the
/// fixed ones out of All, which Wanted is of: one of which an edit could not be
/// made remains.
void concludeFixes(llvm::StringRef Said, Findings &All, const Edits &Wanted,
                   bool Quiet);

} // namespace torchtidy::tool

#endif
