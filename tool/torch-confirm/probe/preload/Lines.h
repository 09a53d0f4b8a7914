// Breakpoints at flagged lines, which go when they are hit: whether a line ran
// is known also where it runs no operation of LibTorch's.
//
// Where the lines are, torch-confirm says in a file (trace/Lines.h) that
// TORCH_CONFIRM_LINES names; without it nothing here does anything.
#ifndef TORCHTIDY_CONFIRM_PROBE_LINES_H
#define TORCHTIDY_CONFIRM_PROBE_LINES_H

#include <cstdint>

namespace torchtidy::confirm::probe {

/// Puts the breakpoints into what is loaded, and sees to libraries that are
/// opened later. Once, before the program's own code runs.
void watchLines();

// For the handler of SIGTRAP (Traps.h). They take no lock that other code
// holds, and allocate nothing.

/// A breakpoint instruction has run at this address. \returns where the program
/// goes on; 0 where the breakpoint is none of ours.
uintptr_t lineTrap(uintptr_t Address);
/// Takes all breakpoints away: SIGTRAP becomes the program's own. What was not
/// hit until now is not known.
void leaveLines();

} // namespace torchtidy::confirm::probe

#endif
