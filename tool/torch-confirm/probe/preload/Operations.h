#ifndef TORCHTIDY_CONFIRM_PROBE_OPERATIONS_H
#define TORCHTIDY_CONFIRM_PROBE_OPERATIONS_H

#include "State.h"

namespace torchtidy::confirm::probe {

bool prepareOperations();

// LibTorch's observer calls these; see ProbeSide.
void operationBegins(const char *Name);
void operationEnds(const char *Name);

/// The host waits for the device at this site, or would on CUDA.
void countSynchronisation(uint32_t Site);

void resetOperationLocks();

} // namespace torchtidy::confirm::probe

#endif
