// Runs the user's program as if it were not watched: its input, output,
// terminal and signals are its own.
#ifndef TORCHTIDY_CONFIRM_RUN_EXECUTE_H
#define TORCHTIDY_CONFIRM_RUN_EXECUTE_H

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

  /// As a shell has it.
  int code() const { return Signal ? 128 + *Signal : ExitCode.value_or(0); }
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
  /// Files in place of standard input and output; empty: as they are here.
  std::string Input, Output;
};

/// Ctrl-C goes to the program, as it would alone, and so does a SIGTERM or
/// SIGHUP that comes here; this process waits for its end. Throws UserError
/// where it cannot be started.
Ended execute(const Watched &What);

} // namespace torchtidy::confirm

#endif
