// Runs the user's program as if it were not watched: its input, output,
// terminal and signals are its own.
#ifndef TORCHTIDY_CONFIRM_RUN_EXECUTE_H
#define TORCHTIDY_CONFIRM_RUN_EXECUTE_H

#include "recording/Recording.h"
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace torchtidy::confirm {

/// Names and values, for an environment.
using Variables = std::vector<std::pair<std::string, std::string>>;

struct Ended {
  std::optional<int> ExitCode, Signal;
  double Seconds = 0;
  /// The most that was resident of it or of one of its children, in bytes.
  int64_t PeakResidentBytes = 0;
  /// It was ended because its time was over.
  bool TimedOut = false;
  /// Where they were to be sampled.
  std::vector<DeviceBusy> Devices = {};

  /// As a shell has it; 124 after a timeout, as of timeout(1).
  int code() const {
    return TimedOut ? 124 : Signal ? 128 + *Signal : ExitCode.value_or(0);
  }
  /// "signal 11", "exit code 3"
  std::string text() const {
    return Signal ? "signal " + std::to_string(*Signal)
                  : "exit code " + std::to_string(ExitCode.value_or(0));
  }
};

struct Watched {
  /// As it was typed; the file that it means is Program.
  std::vector<std::string> Command;
  std::string Program;
  /// The library to preload, before those that are preloaded anyway; empty for
  /// none.
  std::string Probe;
  /// Added to the environment.
  Variables Environment = {};
  /// Where the probe writes.
  std::string Trace;
  bool SamplesHeap = true;
  /// How busy the machine's devices are while it runs.
  bool SamplesDevices = false;
  /// Files in place of standard input and output; empty: as they are here.
  std::string Input, Output;
  /// After which it is told to end; none: never.
  std::optional<double> Timeout = {};
  /// This process will write to its standard output itself. If not, it lets go
  /// of it, so that who reads it sees its end when the program closes it.
  bool KeepsOutput = false;
};

/// How long a program has to end after SIGTERM before SIGKILL comes.
constexpr unsigned SecondsToEnd = 10;

/// What the terminal sends (Ctrl-C, Ctrl-\, Ctrl-Z), or another process to the
/// whole group, reaches the program by itself; what is sent here only (SIGHUP,
/// SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT) is passed on
/// to it. While it is stopped
/// as a job of a shell, so is this process. Waits for its end, and when its
/// time is over ends it and all that it has started. Throws UserError where it
/// cannot be started.
Ended execute(const Watched &What);

/// Ends this process by that signal, as the program was ended, without a core
/// file of its own; returns where the signal does not end it.
void endBySignal(int Signal);

} // namespace torchtidy::confirm

#endif
