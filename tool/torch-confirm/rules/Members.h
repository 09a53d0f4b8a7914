// One thing under several names, or one name that has come to mean another
// thing: elements of a list that share a tensor, members that are not what is
// registered, copies of weights from before a step.
#ifndef TORCHTIDY_CONFIRM_RULES_MEMBERS_H
#define TORCHTIDY_CONFIRM_RULES_MEMBERS_H

#include "rules/Places.h"
#include "rules/Verdict.h"

namespace torchtidy::confirm {

/// Nothing for other kinds of findings, or where the run has no sign of it.
std::optional<Verdict> judgeMembers(const Places &Where);

} // namespace torchtidy::confirm

#endif
