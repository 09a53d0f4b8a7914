// Verdicts for all findings of a file, by one recording.
#ifndef TORCHTIDY_CONFIRM_RULES_JUDGE_H
#define TORCHTIDY_CONFIRM_RULES_JUDGE_H

#include "findings/Finding.h"
#include "recording/Recording.h"
#include "rules/Verdict.h"

namespace torchtidy::confirm {

/// An operation at the flagged statement.
struct SeenOperation {
  std::string Name;
  uint64_t Hits = 0;
  /// "Float[64,1,16,16] on cpu"; of several "varies: ..., ... and others".
  std::string Shapes;
};

/// The program was run again, and the probe acted at the place.
struct Experiment {
  /// "grad mode switched off at this line"
  std::string Action;
  /// What was measured without and with that; empty where it was not tried.
  std::string Before, After;
  /// What became of the program, or why it was not tried.
  std::string Sentence;
  /// The effect is gone, and the program does the same.
  bool IsProof = false;
};

struct JudgedFinding {
  DiagnosedFinding Finding;
  Verdict Result;
  /// Those with most hits, three at most; only where their shapes are known.
  std::vector<SeenOperation> Operations = {};
  std::optional<Experiment> Tried = {};
};

/// Sorted.
std::vector<JudgedFinding> judge(const std::vector<DiagnosedFinding> &Findings,
                                 const Recording &Run);

/// What is confirmed and costs most comes first.
void sort(std::vector<JudgedFinding> &All);

/// Throws UserError where the recording holds lines, and none of them is of a
/// file of the findings.
void requireCommonFile(const std::vector<DiagnosedFinding> &Findings,
                       const Recording &Run);

} // namespace torchtidy::confirm

#endif
