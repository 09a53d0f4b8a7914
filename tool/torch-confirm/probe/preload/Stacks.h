// From where the program called: the stack's frames in the user's code.
#ifndef TORCHTIDY_CONFIRM_PROBE_STACKS_H
#define TORCHTIDY_CONFIRM_PROBE_STACKS_H

#include "State.h"

namespace torchtidy::confirm::probe {

/// Finds out how stacks can be captured here. \returns its name.
const char *prepareStacks();

/// The site of what this thread is about to do, with the stack as it is now.
uint32_t siteHere(trace::SiteKind Kind, TextOffset Operation);

/// Whether the address is on this thread's stack; false where its bounds are
/// not known.
bool isOnStack(uintptr_t Address);

/// Takes what a thread keeps about stacks; at its end and after a fork.
void dropMemo();

} // namespace torchtidy::confirm::probe

#endif
