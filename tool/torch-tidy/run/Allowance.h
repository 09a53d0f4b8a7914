// How long a job may take.
#ifndef TORCHTIDY_TOOL_RUN_ALLOWANCE_H
#define TORCHTIDY_TOOL_RUN_ALLOWANCE_H

#include <chrono>
#include <optional>
#include <sys/types.h>

namespace torchtidy::tool {

/// Processor time, so that it does not depend on what else the machine does; a
/// job that hardly uses any is waiting for something that may never come, and
/// for it the clock counts.
class Allowance {
public:
  using Clock = std::chrono::steady_clock;

  /// From now on. Nothing is used up, whatever the job did before.
  void begin(pid_t Job, Clock::duration Limit);
  void suspend() { LookAt.reset(); }
  /// When to ask isUsedUp().
  const std::optional<Clock::time_point> &nextLook() const { return LookAt; }
  bool isUsedUp(Clock::time_point Now);

private:
  pid_t Process = -1;
  Clock::duration Whole{}, UsedBefore{};
  std::optional<Clock::time_point> LookAt;
  /// The begin of the time over which the share is taken.
  Clock::time_point Since;
  Clock::duration UsedThen{};
};

} // namespace torchtidy::tool

#endif
