// Iterations of a training: from the end of a step to the end of the next one
// of the same place.
#ifndef TORCHTIDY_CONFIRM_PROBE_ITERATIONS_H
#define TORCHTIDY_CONFIRM_PROBE_ITERATIONS_H

#include "State.h"

namespace torchtidy::confirm::probe {

uint64_t iterationsDone();
/// Whether the next step may be expected soon, so that moments wait for it.
bool isAmidIterations(uint64_t Now);
void noticePeakOfIteration(int64_t Live);
void resetIterations();

/// Of Timeline.cpp: an iteration has ended; is somebody to look at what is
/// alive?
void lookAfterStep(uint64_t Now);

} // namespace torchtidy::confirm::probe

#endif
