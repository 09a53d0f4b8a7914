// Query: times that are taken of work for a device, of which nobody waits for
// the end.
#ifndef TORCHTIDY_TRANSFER_TIMINGWITHOUTSYNC_H
#define TORCHTIDY_TRANSFER_TIMINGWITHOUTSYNC_H

#include "model/execution/Program.h"
#include "queries/devices/ClockDifferences.h"

namespace torchtidy::model {

struct TimingWithoutSync {
  const Execution *Entry = nullptr;
  ClockDifference Time;
  /// The last work between the two readings.
  const Event *Work = nullptr;
};

/// Work is what certainly is for a device that may not be the CPU: a module, an
/// operation, a backward(), a copy to the host that is not waited for. Nothing
/// is reported where, on any path from it to the second reading, the host waits
/// or code runs that may wait, where the time decides about something (a time
/// limit), and for code that only tests run.
std::vector<TimingWithoutSync> findTimingWithoutSync(Program &Program);

} // namespace torchtidy::model

#endif
