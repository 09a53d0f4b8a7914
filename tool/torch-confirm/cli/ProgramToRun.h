// The program that a subcommand runs: its words, and the options that say how.
#ifndef TORCHTIDY_CONFIRM_CLI_PROGRAMTORUN_H
#define TORCHTIDY_CONFIRM_CLI_PROGRAMTORUN_H

#include "recording/Recording.h"
#include "run/Execute.h"
#include "run/Target.h"
#include "support/Errors.h"
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace torchtidy::confirm {

class ProgramToRun {
public:
  /// --timeout, --program, and what stands after '--'.
  /// \param Then what happens after the timeout: "judge by what it did".
  void addOptions(CLI::App &App, const std::string &Then);
  /// Throws UserError for options that cannot be met, before anything runs.
  void check() const;

  const std::vector<std::string> &words() const { return Words; }
  /// Throws UserError where it is not there or cannot be watched.
  Target inspected(const std::string &LibTorch) const;
  /// How it is executed, but for the probe. Throws UserError.
  Watched watched(bool KeepsOutput) const;
  /// Puts what only who started it knows.
  void complete(Recording &Run, const Ended &End) const;
  /// The probe has seen nothing.
  UserError recordedNothing(const Ended &End) const;

private:
  std::vector<std::string> Words;
  std::string Timeout, Meant;
};

} // namespace torchtidy::confirm

#endif
