// SIGTRAP, which the breakpoints of Lines.h raise, beside the program's own use
// of it: the program never sees ours, and its own reach its handler.
#ifndef TORCHTIDY_CONFIRM_PROBE_TRAPS_H
#define TORCHTIDY_CONFIRM_PROBE_TRAPS_H

namespace torchtidy::confirm::probe {

/// Stands in front of the program's handler and of what it blocks from now on.
/// \returns whether that worked.
bool takeTraps();
/// Undoes that, or sees to it that it does not come to it.
void giveTrapsBack();

} // namespace torchtidy::confirm::probe

#endif
