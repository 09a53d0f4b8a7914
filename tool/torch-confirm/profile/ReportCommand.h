// torch-confirm report: why memory grows and where time goes.
#ifndef TORCHTIDY_CONFIRM_PROFILE_REPORTCOMMAND_H
#define TORCHTIDY_CONFIRM_PROFILE_REPORTCOMMAND_H

#include "cli/Command.h"

namespace torchtidy::confirm {

std::unique_ptr<Command> makeReportCommand();

} // namespace torchtidy::confirm

#endif
