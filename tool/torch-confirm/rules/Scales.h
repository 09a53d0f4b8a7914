// On which scale the numbers are that a loss, or a logarithm, is given.
#ifndef TORCHTIDY_CONFIRM_RULES_SCALES_H
#define TORCHTIDY_CONFIRM_RULES_SCALES_H

#include "rules/Places.h"
#include "rules/Verdict.h"

namespace torchtidy::confirm {

/// Nothing for other kinds of findings, or where nobody has seen the numbers:
/// they were on a device.
std::optional<Verdict> judgeScale(const Places &Where);

} // namespace torchtidy::confirm

#endif
