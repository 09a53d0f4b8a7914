#ifndef TORCHTIDY_CONFIRM_PROBE_ALLOCATIONS_H
#define TORCHTIDY_CONFIRM_PROBE_ALLOCATIONS_H

#include "Hooks.h"

namespace torchtidy::confirm::probe {

/// Whether the hooks see the memory of tensors.
Binding cpuMemoryBinding();
Binding cudaMemoryBinding();

// See ProbeSide.
bool operandsAre(Operand First, Operand Second);
void wasGiven(uint32_t Site, const void *Memory);
void writes(uint32_t Site, const void *Memory, bool IsPart);
void views(const void *Memory);
void givenHalf(uint32_t Site, const void *Memory);

/// The program asks for the elements of a tensor by their address.
void asksForElements(const void *Memory);

/// Where memory of a tensor was taken; 0 where that is not known.
uint32_t siteOfBlock(const void *Memory);

/// A tensor with that memory was written in place through the handle at that
/// address.
void isWrittenThrough(const void *Handle, const void *Memory);

// Around a fork.
void lockAllocations();
void unlockAllocations();
/// Takes off what a forked child freed before it began to record.
void forgetFreed(int64_t &Cpu, int64_t &Cuda);

} // namespace torchtidy::confirm::probe

#endif
