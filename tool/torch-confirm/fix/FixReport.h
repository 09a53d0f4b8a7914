// What a program came to with fixes, for people and for programs.
#ifndef TORCHTIDY_CONFIRM_FIX_FIXREPORT_H
#define TORCHTIDY_CONFIRM_FIX_FIXREPORT_H

#include "fix/Totals.h"
#include "fix/Trial.h"
#include <vector>

namespace torchtidy::confirm::fix {

struct FixReport {
  const Recording *Before = nullptr;
  /// Of all fixes together; null with --each.
  const Recording *After = nullptr;
  std::optional<Comparison> Together;
  std::vector<Row> Totals;
  std::vector<FixedFinding> Findings;
  /// How many fixes were applied together.
  size_t Applied = 0;
  /// Of these, fixes of wrong results that the others were judged beside.
  size_t Mended = 0;
  /// Findings without a fix, of checks that were asked for.
  size_t WithoutFix = 0;
};

/// "1 fix", "2 fixes".
std::string fixes(size_t Count);

std::string asText(const FixReport &What);
std::string asJson(const FixReport &What);

} // namespace torchtidy::confirm::fix

#endif
