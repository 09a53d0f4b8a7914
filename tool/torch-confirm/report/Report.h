// Verdicts for people, for programs, and in the SARIF file they came from.
#ifndef TORCHTIDY_CONFIRM_REPORT_REPORT_H
#define TORCHTIDY_CONFIRM_REPORT_REPORT_H

#include "findings/Read.h"
#include "recording/Recording.h"
#include "rules/Judge.h"

namespace torchtidy::confirm {

struct Report {
  const Recording &Run;
  const FindingsFile &Input;
  /// Sorted.
  std::vector<JudgedFinding> Judged;
};

std::string asText(const Report &What);
std::string asJson(const Report &What);
/// The file of the findings with a verdict in each result: in its message, and
/// as properties.torchConfirm. All else stays as it was. Verdicts of an earlier
/// run are replaced.
std::string asSarif(const Report &What);

} // namespace torchtidy::confirm

#endif
