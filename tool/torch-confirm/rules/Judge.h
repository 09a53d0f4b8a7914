// Verdicts for all findings of a file, by one recording.
#ifndef TORCHTIDY_CONFIRM_RULES_JUDGE_H
#define TORCHTIDY_CONFIRM_RULES_JUDGE_H

#include "findings/Finding.h"
#include "recording/Recording.h"
#include "rules/Verdict.h"

namespace torchtidy::confirm {

struct JudgedFinding {
  DiagnosedFinding Finding;
  Verdict Result;
};

/// Sorted: what is confirmed and costs most comes first.
std::vector<JudgedFinding> judge(const std::vector<DiagnosedFinding> &Findings,
                                 const Recording &Run);

/// Throws UserError where the recording holds lines, and none of them is of a
/// file of the findings.
void requireCommonFile(const std::vector<DiagnosedFinding> &Findings,
                       const Recording &Run);

} // namespace torchtidy::confirm

#endif
