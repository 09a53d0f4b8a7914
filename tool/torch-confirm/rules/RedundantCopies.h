// Of torch-redundant-transfer, whose findings are of copies-per-iteration: a
// clone() beside a transfer, and a transfer that has nothing to do.
#ifndef TORCHTIDY_CONFIRM_RULES_REDUNDANTCOPIES_H
#define TORCHTIDY_CONFIRM_RULES_REDUNDANTCOPIES_H

#include "rules/Rule.h"
#include <optional>

namespace torchtidy::confirm {

/// Nothing where the copies of the line decide.
std::optional<Verdict> judgeRedundant(const Places &Where);

} // namespace torchtidy::confirm

#endif
