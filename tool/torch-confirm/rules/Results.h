// Mistakes that change a result without an error, and yet leave something in a
// run that nothing else does: a tensor that is gone before anything has used
// it, a leaf that gets gradients and is in no optimizer, an optimizer that is
// made again for the parameters of the one before.
#ifndef TORCHTIDY_CONFIRM_RULES_RESULTS_H
#define TORCHTIDY_CONFIRM_RULES_RESULTS_H

#include "rules/Places.h"
#include "rules/Verdict.h"

namespace torchtidy::confirm {

/// Nothing where the kind of the finding leaves no such sign, or where the run
/// has not enough of it.
std::optional<Verdict> judgeResult(const Places &Where);

} // namespace torchtidy::confirm

#endif
