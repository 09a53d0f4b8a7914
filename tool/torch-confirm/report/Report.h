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

/// A path as one would type it from here.
std::string shortPath(const std::string &File);
/// "src/train.cpp:14:3"
std::string placeOf(const DiagnosedFinding &Finding);

struct TextOptions {
  /// What each finding says, the operations that ran there, the rule that
  /// decided, and why a place counts as not reached.
  bool Details = false;
  /// Escape sequences of a terminal.
  bool Color = false;
};

/// For people: the end of the program, how many findings have which verdict,
/// and two lines for each; one for those that were not reached.
std::string asText(const Report &What, const TextOptions &Options = {});
std::string asJson(const Report &What);
/// The file of the findings with a verdict in each result: in its message, and
/// as properties.torchConfirm. All else stays as it was. A verdict of an
/// earlier run is replaced, unless this one says less: a project has several
/// programs, and each reaches its own sources only.
std::string asSarif(const Report &What);

} // namespace torchtidy::confirm

#endif
