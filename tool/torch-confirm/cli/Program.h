#ifndef TORCHTIDY_CONFIRM_CLI_PROGRAM_H
#define TORCHTIDY_CONFIRM_CLI_PROGRAM_H

namespace torchtidy::confirm {

/// The command line of torch-confirm; its exit code.
int runProgram(int Count, char **Words);

} // namespace torchtidy::confirm

#endif
