#ifndef TORCHTIDY_CONFIRM_PROBE_BACKWARD_H
#define TORCHTIDY_CONFIRM_PROBE_BACKWARD_H

#include "Hooks.h"

namespace torchtidy::confirm::probe {

/// Whether the hooks see backwards, and the nodes that they run.
Binding backwardBinding();
Binding nodeRunBinding();

void lockBackwards();
void unlockBackwards();

} // namespace torchtidy::confirm::probe

#endif
