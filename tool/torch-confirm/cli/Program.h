#ifndef TORCHTIDY_CONFIRM_CLI_PROGRAM_H
#define TORCHTIDY_CONFIRM_CLI_PROGRAM_H

#include "cli/Command.h"
#include <vector>

namespace torchtidy::confirm {

/// The command line of torch-confirm with these subcommands; its exit code.
int runProgram(const std::vector<std::unique_ptr<Command>> &Commands, int Count,
               char **Words);

} // namespace torchtidy::confirm

#endif
