#ifndef TORCHTIDY_CONFIRM_PROBE_COPIES_H
#define TORCHTIDY_CONFIRM_PROBE_COPIES_H

#include "Hooks.h"

namespace torchtidy::confirm::probe {

/// Whether the hook sees copies.
Binding copiesBinding();

} // namespace torchtidy::confirm::probe

#endif
