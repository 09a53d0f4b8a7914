// Modules and their members, and what autocast keeps of their weights.
#ifndef TORCHTIDY_CONFIRM_PROBE_MEMBERS_H
#define TORCHTIDY_CONFIRM_PROBE_MEMBERS_H

#include "Hooks.h"

namespace torchtidy::confirm::probe {

/// Whether the hooks see modules being asked, and casts being given.
Binding membersBinding();
Binding castsBinding();

// See ProbeSide.
void memberReplaced(const void *Memory);
uint32_t moduleMadeAt(const void *Module);
void memberCalled(uint32_t MadeAt, bool IsInSameMode);
void parameterListed(const void *Memory, uint32_t Times);
void castTaken(uint32_t Step, bool IsStale);

// Around a fork.
void lockMembers();
void unlockMembers();

} // namespace torchtidy::confirm::probe

#endif
