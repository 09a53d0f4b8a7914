// SARIF 2.1.0 (OASIS), which code hosts, editors and torch-confirm read.
#ifndef TORCHTIDY_TOOL_REPORT_SARIF_H
#define TORCHTIDY_TOOL_REPORT_SARIF_H

#include "report/Report.h"
#include "run/Runner.h"
#include "llvm/Support/JSON.h"

namespace torchtidy::tool {

/// What a run came to, as a SARIF log with one run.
///
/// Paths below the current folder are relative to it (uriBaseId SRCROOT),
/// others absolute. Columns count Unicode code points. `properties.torchTidy`
/// of a result holds what the harness needs: "evidence" (how the finding is
/// confirmed), "kind" (what it says, as in FindingKinds.def), "statement" (all
/// of what is flagged), "loop" and "iterationSite"; that of a related location
/// its "role". The fingerprint of a result does not change when its line
/// moves.
///
/// To be called before fixes are applied. All: what is shown of the run's
/// findings. Executable: this program, beside which the pages of the checks
/// lie.
llvm::json::Value toSarif(const RunResult &Run, const Findings &All,
                          bool AllAnalysed, llvm::StringRef Executable,
                          llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);

/// A notification: so many functions hold compile errors.
inline llvm::json::Object sarifUnanalysed(uint64_t Unanalysed,
                                          uint64_t Functions) {
  return llvm::json::Object{
      {"level", "warning"},
      {"message",
       llvm::json::Object{{"text", std::to_string(Unanalysed) + " of " +
                                       std::to_string(Functions) +
                                       " functions were analysed around "
                                       "compile errors in them"}}}};
}

/// What a log says of a check: a reporting descriptor.
llvm::json::Object sarifRule(llvm::StringRef Check, llvm::StringRef Executable);
/// What SARIF calls a finding of a torch check of this level: GitHub's code
/// scanning refuses a pull request for an "error" and shows the others.
inline llvm::StringRef sarifLevel(unsigned Level) {
  return Level == 0 ? "error" : Level == 1 ? "warning" : "note";
}
/// A message object of SARIF.
llvm::json::Object sarifText(llvm::StringRef Words);

} // namespace torchtidy::tool

#endif
