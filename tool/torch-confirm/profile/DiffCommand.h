// torch-confirm diff: what a change brought.
#ifndef TORCHTIDY_CONFIRM_PROFILE_DIFFCOMMAND_H
#define TORCHTIDY_CONFIRM_PROFILE_DIFFCOMMAND_H

#include "cli/Command.h"

namespace torchtidy::confirm {

std::unique_ptr<Command> makeDiffCommand();

} // namespace torchtidy::confirm

#endif
