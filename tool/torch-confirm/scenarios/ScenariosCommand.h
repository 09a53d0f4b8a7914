// 'torch-confirm scenarios'.
#ifndef TORCHTIDY_CONFIRM_SCENARIOS_SCENARIOSCOMMAND_H
#define TORCHTIDY_CONFIRM_SCENARIOS_SCENARIOSCOMMAND_H

#include "cli/Command.h"

namespace torchtidy::confirm {

std::unique_ptr<Command> makeScenariosCommand();

} // namespace torchtidy::confirm

#endif
