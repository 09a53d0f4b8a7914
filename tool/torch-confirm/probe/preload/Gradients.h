#ifndef TORCHTIDY_CONFIRM_PROBE_GRADIENTS_H
#define TORCHTIDY_CONFIRM_PROBE_GRADIENTS_H

#include "Hooks.h"

namespace torchtidy::confirm::probe {

/// Whether the hooks see gradients being accumulated and applied.
Binding gradientsBinding();

// See ProbeSide.
void unclearedStep(uint32_t Site);
uint32_t leafTrained(const void *Memory);
void leafStepped(uint32_t MadeAt);
void gradientEnds(uint32_t Site, GradientEnd How);
void optimizerMadeAgain(uint32_t Site);

} // namespace torchtidy::confirm::probe

#endif
