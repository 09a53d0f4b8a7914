// Loops that go over the same data again and again: the epochs of one training.
#ifndef TORCHTIDY_QUERIES_LOOPS_EPOCHS_H
#define TORCHTIDY_QUERIES_LOOPS_EPOCHS_H

#include "queries/loops/LoopInvariance.h"

namespace torchtidy::model {

/// Each iteration of Outer is an epoch: it counts, and Inner, directly in it,
/// goes through the same batches, or parts or rows of the same tensors, every
/// time, with a backward() for each. Not where what Outer counts goes into
/// tensors or modules, or into code that cannot be seen, as the number of a
/// stage or of a task does; nor where it runs for objects, or no more than
/// once.
bool areEpochs(const Execution &Entry, Invariance &Same,
               const flow::Loop &Outer, const flow::Loop &Inner);

} // namespace torchtidy::model

#endif
