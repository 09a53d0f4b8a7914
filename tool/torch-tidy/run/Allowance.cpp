#include "run/Allowance.h"
#include <algorithm>
#include <time.h>

namespace torchtidy::tool {
namespace {

using Clock = Allowance::Clock;
/// Between two looks at a job that has used up its time by the clock alone.
constexpr std::chrono::milliseconds LookLength{200};
/// Less than this part of one processor is waiting.
constexpr int LeastShare = 100;

/// What a process has used of the processors; nothing where the system does not
/// tell.
std::optional<Clock::duration> processorTime(pid_t Process) {
#ifdef __linux__
  clockid_t Id;
  timespec Used;
  if (clock_getcpuclockid(Process, &Id) == 0 && clock_gettime(Id, &Used) == 0)
    return std::chrono::seconds(Used.tv_sec) +
           std::chrono::nanoseconds(Used.tv_nsec);
#endif
  return std::nullopt;
}

} // namespace

void Allowance::begin(pid_t Job, Clock::duration Limit) {
  Process = Job;
  Whole = Limit;
  Since = Clock::now();
  UsedBefore = UsedThen = processorTime(Process).value_or(Clock::duration());
  LookAt = Since + Whole;
}

bool Allowance::isUsedUp(Clock::time_point Now) {
  if (!LookAt || Now < *LookAt)
    return false;
  const std::optional<Clock::duration> Used = processorTime(Process);
  if (!Used || *Used - UsedBefore >= Whole)
    return true;
  if (Now - Since >= Whole / 2) {
    if ((*Used - UsedThen) * LeastShare < Now - Since)
      return true;
    Since = Now;
    UsedThen = *Used;
  }
  LookAt =
      Now + std::max<Clock::duration>(Whole - (*Used - UsedBefore), LookLength);
  return false;
}

} // namespace torchtidy::tool
