#ifndef TORCHTIDY_CONFIRM_PROBE_OPERATIONS_H
#define TORCHTIDY_CONFIRM_PROBE_OPERATIONS_H

#include "State.h"

namespace torchtidy::confirm::probe {

bool prepareOperations();

// LibTorch's observer calls these; see ProbeSide.
Begun operationBegins(const char *Name);
bool countShape(uint32_t Site, uint64_t Hash);
void keepShape(uint32_t Site, uint64_t Hash, const char *Text);
void operationEnds(const char *Name);
void isOfOneElement(uint32_t Site, const void *Memory);
void runsInMode(uint32_t Site, bool IsTraining);
void takesScale(uint32_t Site, uint32_t Scale);
void stretchesNot(uint32_t Site);
void copiesAgain(uint32_t Site);
void runsUnderAutocast(uint32_t Site);

/// The host waits for the device at this site, or would on CUDA.
void countSynchronisation(uint32_t Site);

/// Ours is added: it is none of theirs.
class AddsObserver {
public:
  AddsObserver();
  ~AddsObserver();
};

void resetOperationLocks();

} // namespace torchtidy::confirm::probe

#endif
