// Findings as a JUnit report, which most CI servers show.
#ifndef TORCHTIDY_TOOL_REPORT_JUNIT_H
#define TORCHTIDY_TOOL_REPORT_JUNIT_H

#include "report/Locations.h"
#include "llvm/Support/raw_ostream.h"

namespace torchtidy::tool {

/// A suite for each file with findings, in their order, and in it a failed test
/// case for each; a report without a test case counts as broken, so that where
/// nothing is found there is one that passes.
void writeJUnit(llvm::raw_ostream &OS, const Findings &All,
                llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);

} // namespace torchtidy::tool

#endif
