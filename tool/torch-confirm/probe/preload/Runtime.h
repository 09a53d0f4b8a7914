#ifndef TORCHTIDY_CONFIRM_PROBE_RUNTIME_H
#define TORCHTIDY_CONFIRM_PROBE_RUNTIME_H

#include "Hooks.h"

namespace torchtidy::confirm::probe {

/// Whether the hooks see LibTorch's calls of the CUDA runtime.
Binding runtimeBinding();

} // namespace torchtidy::confirm::probe

#endif
