// --unused-nolints: comments that silence nothing, as findings.
#ifndef TORCHTIDY_TOOL_REPORT_UNUSEDNOLINTS_H
#define TORCHTIDY_TOOL_REPORT_UNUSEDNOLINTS_H

#include "run/Runner.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace torchtidy::tool {

/// Adds a finding for each name in a comment that has silenced nothing in any
/// source, or that no check of Known has. InWhole: all sources of the compile
/// commands have been analysed; without that nothing is said of headers, for
/// another source may be what needs the comment.
void addUnusedNolints(RunResult &Done, const llvm::StringSet<> &Known,
                      bool InWhole,
                      llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);

} // namespace torchtidy::tool

#endif
