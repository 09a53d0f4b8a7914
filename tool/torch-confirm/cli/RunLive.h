// report --live: a program is shown on the terminal while it runs.
#ifndef TORCHTIDY_CONFIRM_CLI_RUNLIVE_H
#define TORCHTIDY_CONFIRM_CLI_RUNLIVE_H

#include <functional>

namespace torchtidy::confirm {

/// Runs \p Work, which runs a program under the probe and writes to standard
/// output and error, in a process of its own, and shows the program meanwhile
/// on standard error. Where these two are the terminal, what was written to
/// them follows at the end. Ctrl-C is the program's.
/// \returns the exit code of the work; ends as it did where a signal ended it.
int runLive(const std::function<int()> &Work, bool Color);

} // namespace torchtidy::confirm

#endif
