// A subcommand of torch-confirm: it adds its options to the command line and
// does its work when it was chosen.
#ifndef TORCHTIDY_CONFIRM_CLI_COMMAND_H
#define TORCHTIDY_CONFIRM_CLI_COMMAND_H

#include <CLI/CLI.hpp>
#include <memory>

namespace torchtidy::confirm {

class Command {
public:
  virtual ~Command() = default;
  /// Adds the subcommand with its options.
  virtual CLI::App *add(CLI::App &Program) = 0;
  /// Does the work, with the options that the command line gave; the exit code.
  /// Throws UserError for what the user can mend.
  virtual int run() = 0;
};

std::unique_ptr<Command> makeRunCommand();
std::unique_ptr<Command> makeJudgeCommand();
std::unique_ptr<Command> makeProbeCommand();
std::unique_ptr<Command> makeReportCommand();
std::unique_ptr<Command> makeLiveCommand();
std::unique_ptr<Command> makeDiffCommand();

} // namespace torchtidy::confirm

#endif
