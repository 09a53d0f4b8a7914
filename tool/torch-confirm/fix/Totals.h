// What a whole run came to, as rows that two runs are compared by.
#ifndef TORCHTIDY_CONFIRM_FIX_TOTALS_H
#define TORCHTIDY_CONFIRM_FIX_TOTALS_H

#include "findings/Finding.h"
#include "recording/Recording.h"
#include <optional>
#include <string>
#include <vector>

namespace torchtidy::confirm::fix {

struct Row {
  /// "peak-tensor-bytes": for programs.
  std::string Key;
  /// "peak of tensors": for people.
  std::string Name;
  /// Numbers are bytes, or seconds; else they count.
  bool IsBytes = false, IsSeconds = false;
  /// Nothing where it was not measured.
  std::optional<double> Before, After;
};

/// A finding's place in both programs.
struct Followed {
  const DiagnosedFinding *Before = nullptr, *After = nullptr;
};

/// Quantities that are 0 in both are left out. Growth is that at the place
/// which grows fastest without the fixes.
std::vector<Row> compareTotals(const Recording &Before, const Recording &After,
                               const std::vector<Followed> &Places);

/// "4.3 MiB"; "6.5 s"; "1,234"; "-" where it is not there.
std::string textOf(const Row &Which, const std::optional<double> &Number);
/// "-37 %"; "+12 %"; empty where there is nothing to compare.
std::string changeOf(const Row &Which);

} // namespace torchtidy::confirm::fix

#endif
