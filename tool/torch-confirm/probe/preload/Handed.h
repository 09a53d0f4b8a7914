// Gradients that the program's own code asks for: whether an operation is given
// one of them.
#ifndef TORCHTIDY_CONFIRM_PROBE_HANDED_H
#define TORCHTIDY_CONFIRM_PROBE_HANDED_H

#include <cstdint>

namespace torchtidy::confirm::probe {

/// Whether any is out that no operation was given.
bool areGradientsHanded();
/// An operation that reads its operands is given that memory.
void readsGradient(uintptr_t Memory);
/// The memory is freed.
void forgetGradient(uintptr_t Memory);

} // namespace torchtidy::confirm::probe

#endif
