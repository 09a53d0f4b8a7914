// Jobs in processes of their own: one that crashes or hangs takes nothing with
// it but itself.
#ifndef TORCHTIDY_TOOL_RUN_POOL_H
#define TORCHTIDY_TOOL_RUN_POOL_H

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace torchtidy::tool {

/// What a job can tell the pool while it runs.
class JobControl {
public:
  explicit JobControl(int Channel) : Channel(Channel) {}
  /// What follows is not counted against the time limit, up to resume().
  void pause() { tell('p'); }
  void resume() { tell('r'); }
  /// While paused: for which process, or 0.
  void waitsFor(pid_t Other);
  /// A crash from here on may be due to how the job goes about it: then it is
  /// run once more, with a higher number of tries.
  void offerRetry() { tell('t'); }
  /// What follows is done by jobs of its own, each with its time: this one has
  /// no limit any more.
  void handOver() { tell('h'); }

private:
  void tell(char What);
  int Channel;
};

struct PoolSettings {
  /// How many jobs run at a time, at least 1.
  unsigned Jobs = 1;
  /// Of processor time for each job, or of the clock's while it only waits;
  /// zero: no limit.
  std::chrono::milliseconds Timeout{0};
};

struct JobOutcome {
  /// What the job returned.
  std::string Result;
  /// What it wrote to standard output and standard error meanwhile.
  std::string Output, Errors;
  /// Why there is no result; empty where there is one.
  std::string Failure;
  /// Of processor time.
  double Seconds = 0;
};

/// Runs the jobs 0, 1, ... Count - 1. What is known is not run; of the rest
/// some may be run as batches, in a process that has read what they have in
/// common and makes their processes itself; what is left, and what a batch has
/// not told the outcome of, each in a process of its own.
class Pool {
public:
  /// Called in the job's process. Tries: how often it was run before.
  using Work =
      std::function<std::string(size_t Job, unsigned Tries, JobControl &)>;
  /// Called here, in the order of the jobs, whichever ends first.
  using Finished = std::function<void(size_t Job, JobOutcome)>;
  /// Called here: when any job has ended, in the order in which they end.
  using Ended = std::function<void(size_t Job, const JobOutcome &)>;
  /// Called here a few times per second: how many jobs run, and of them those
  /// that are paused.
  using Tick = std::function<void(size_t Running, size_t Paused)>;

  explicit Pool(PoolSettings Settings) : Settings(Settings) {}

  /// Called here, before the job is started: its outcome where that is known
  /// without running it.
  using Known = std::function<std::optional<JobOutcome>(size_t Job)>;
  using Jobs = std::vector<size_t>;
  /// Called here, with all that are not known: those that are to be run
  /// together, no job twice.
  using Group = std::function<std::vector<Jobs>(const Jobs &Unknown)>;
  /// What the process of a batch says.
  struct Tell {
    /// What became of a job, in the order in which they end.
    std::function<void(size_t Job, const JobOutcome &)> Ended;
    /// These make a batch of their own.
    std::function<void(const Jobs &)> Apart;
  };
  /// Called in the process of a batch. It may use all of Settings.Jobs.
  using Batch =
      std::function<void(const Jobs &Whole, JobControl &, const Tell &)>;

  /// Called here: a job waits for a process that is none of this run, or for
  /// one that is not known (0).
  using Waits = std::function<void(pid_t Other)>;

  Ended OnEnded;
  Tick OnTick;
  Waits OnWait;
  Known IsKnown;
  Group MakeBatches;
  Batch DoBatch;

  /// Returns 0, or the number of the signal (SIGINT, SIGTERM, SIGHUP) that
  /// ended it before its time: all jobs are ended then, and Finished has been
  /// called for those that were done, in order, without gaps filled.
  int run(size_t Count, const Work &DoWork, const Finished &OnFinished);

  PoolSettings Settings;
};

/// As many as there are processors, and as fit into the memory that is free
/// when each takes BytesPerJob; at least 1.
unsigned defaultJobs(uint64_t BytesPerJob);

} // namespace torchtidy::tool

#endif
