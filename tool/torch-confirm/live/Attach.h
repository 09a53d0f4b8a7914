// Programs that run under the probe now, and what the probe has written of one
// until now.
//
// The trace is a file that the program maps (trace/Trace.h), so it can be read
// at any time and costs the program nothing; what is read is what a report
// would say if the program were killed at that moment.
#ifndef TORCHTIDY_CONFIRM_LIVE_ATTACH_H
#define TORCHTIDY_CONFIRM_LIVE_ATTACH_H

#include "profile/Profile.h"
#include "recording/Symbolizer.h"
#include "run/Processes.h"

namespace torchtidy::confirm {

/// One run of torch-confirm: all processes that it watches.
struct LiveRun {
  /// Where the probe writes.
  std::string Trace;
  std::vector<pid_t> Processes;
  /// Of the process that has run most operations.
  pid_t Busiest = 0;
  std::vector<std::string> Command;
};

/// Those of this user, by the number of their first process. Those that have
/// run no operation of LibTorch yet have no Busiest.
std::vector<LiveRun> liveRuns();

/// Those of them that \p Process is of, or has started.
std::vector<LiveRun> liveRunsOf(pid_t Process);

/// The one that \p Process is of, or has started (torch-confirm itself, a
/// script); without a number, the only one there is. Throws UserError that says
/// which there are.
LiveRun liveRun(std::optional<pid_t> Process);

/// What a program has done until now.
struct LiveLook {
  Recording Run;
  Profile Of;
  /// What is alive now.
  std::vector<Held> Now;
  /// Resident bytes of the process; -1 where not known.
  int64_t ResidentBytes = -1;
  /// Seconds since its last operation.
  double Idle = 0;
  bool HasTimeline = false;
};

/// Looks at one run again and again.
class Follower {
public:
  explicit Follower(LiveRun Which) : Which(std::move(Which)) {}

  /// Nothing while no operation has run.
  std::optional<LiveLook> look();
  /// Whether one of its processes still runs.
  bool isAlive() const;

private:
  LiveRun Which;
  SymbolCache Known;
};

} // namespace torchtidy::confirm

#endif
