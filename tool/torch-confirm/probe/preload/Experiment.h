// What the probe does to the program where it is asked for an experiment:
// nothing otherwise.
#ifndef TORCHTIDY_CONFIRM_PROBE_EXPERIMENT_H
#define TORCHTIDY_CONFIRM_PROBE_EXPERIMENT_H

#include "State.h"

namespace torchtidy::confirm::probe {

/// Reads the file that TORCH_CONFIRM_NO_GRAD names: hashes of stacks
/// (trace/StackHash.h), a hexadecimal number in each line.
void prepareExperiment();

/// Whether the operation that begins at this site is to run with grad mode off.
bool runsWithoutGrad(uint32_t Site);

} // namespace torchtidy::confirm::probe

#endif
