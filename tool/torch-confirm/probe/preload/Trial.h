// Whether breakpoints work in this process: one of the probe's own is tried.
#ifndef TORCHTIDY_CONFIRM_PROBE_TRIAL_H
#define TORCHTIDY_CONFIRM_PROBE_TRIAL_H

#include <cstdint>

namespace torchtidy::confirm::probe {

constexpr uint8_t Breakpoint = 0xcc;

/// Whether this is valgrind, where none may be tried.
bool isUnderValgrind();
/// Hits a breakpoint; SIGTRAP has to lead to trialTrap().
bool tryBreakpoint();
/// A breakpoint has run at this address. \returns where the program goes on; 0
/// where it is not that of the trial.
uintptr_t trialTrap(uintptr_t Address);

/// Where an instruction is that returns from a function.
uintptr_t returnInstruction();

} // namespace torchtidy::confirm::probe

#endif
