// The processes that belong to a run, as /proc has them.
#ifndef TORCHTIDY_CONFIRM_RUN_PROCESSES_H
#define TORCHTIDY_CONFIRM_RUN_PROCESSES_H

#include <string>
#include <sys/types.h>
#include <vector>

namespace torchtidy::confirm {

/// A number is given to another process some time after its end; with the time
/// of its start it means one process.
struct Process {
  pid_t Id = 0;
  unsigned long long StartedAt = 0;
};

/// Those that run or are stopped: \p Root, all that it and its children have
/// started, and those of this session that were started with "<Variable>" in
/// their environment, though what started them has ended.
std::vector<Process> processesOf(pid_t Root, const std::string &Variable);

struct WatchedProcess {
  pid_t Id = 0;
  /// What a variable of its environment holds.
  std::string Value;
};

/// Those of this user that were started with a variable of that name in their
/// environment, by number.
std::vector<WatchedProcess> processesWith(const std::string &Name);

/// Not those that have ended, though nobody has asked how.
bool isAlive(const Process &Which);

} // namespace torchtidy::confirm

#endif
