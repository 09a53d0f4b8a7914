// Fixes tried on the copy of a project.
#ifndef TORCHTIDY_CONFIRM_FIX_ATTEMPTS_H
#define TORCHTIDY_CONFIRM_FIX_ATTEMPTS_H

#include "fix/FixReport.h"
#include "fix/FixRuns.h"

namespace torchtidy::confirm::fix {

/// All that can be applied together. After: the run with them, to which the
/// report points. Throws UserError where the copy does not build with them.
FixReport tryTogether(FixRuns &Runs, std::vector<FixableFinding> &Findings,
                      ProgramRun &After);
/// Each by itself, where the effect is there.
FixReport tryEach(FixRuns &Runs, const std::vector<FixableFinding> &Findings);

} // namespace torchtidy::confirm::fix

#endif
