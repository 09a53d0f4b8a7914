// Comments that silence findings.
#ifndef TORCHTIDY_TOOL_REPORT_NOLINT_H
#define TORCHTIDY_TOOL_REPORT_NOLINT_H

#include "report/Report.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace torchtidy::tool {

/// --add-nolint: puts "// NOLINTNEXTLINE(check): Reason" before the line of
/// each finding, or its check into the comment that stands there already. Says
/// how many are silenced, and where no comment can stand: within a macro's
/// definition, a string or a comment of several lines. Returns the exit code,
/// 1 where a file cannot be written or a finding is left.
int addNolint(const Findings &All, llvm::StringRef Reason,
              llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);

} // namespace torchtidy::tool

#endif
