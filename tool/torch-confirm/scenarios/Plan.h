// In which order checks are measured, and what is begun at all where the time
// is limited.
#ifndef TORCHTIDY_CONFIRM_SCENARIOS_PLAN_H
#define TORCHTIDY_CONFIRM_SCENARIOS_PLAN_H

#include "scenarios/Manifest.h"
#include <chrono>
#include <filesystem>
#include <optional>
#include <vector>

namespace torchtidy::confirm::scenarios {

/// Whether only a device shows what the mistake costs: its evidence are copies
/// to a device or waits for it, or the pair has a stand-in for one on the CPU.
bool needsDevice(const Row &R, const std::filesystem::path &Scenarios);

/// Those whose effect needs a device first, where there is one; then by level;
/// else as the registry has them.
void sortByWeight(std::vector<Row> &Rows, bool HasDevice,
                  const std::filesystem::path &Scenarios);

/// The time that is left.
class Budget {
public:
  using Clock = std::chrono::steady_clock;

  /// Without a number there is always enough.
  explicit Budget(std::optional<double> Seconds);

  bool isLimited() const { return End.has_value(); }
  double seconds() const { return Given; }
  bool isOver() const { return isLimited() && left() <= 0; }
  bool fits(double Seconds) const { return !isLimited() || Seconds <= left(); }
  /// Whole seconds for a program that may take \p Most: at least 1.
  unsigned atMost(unsigned Most) const;

private:
  double left() const;

  double Given = 0;
  std::optional<Clock::time_point> End;
};

/// The budget was over while something ran.
struct OutOfTime {};

} // namespace torchtidy::confirm::scenarios

#endif
