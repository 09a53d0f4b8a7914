// torch-confirm fix: builds the program with the fixes applied and compares.
#ifndef TORCHTIDY_CONFIRM_FIX_FIXCOMMAND_H
#define TORCHTIDY_CONFIRM_FIX_FIXCOMMAND_H

#include "cli/Command.h"

namespace torchtidy::confirm {

std::unique_ptr<Command> makeFixCommand();

} // namespace torchtidy::confirm

#endif
