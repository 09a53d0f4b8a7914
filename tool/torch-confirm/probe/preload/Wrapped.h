// Tensors over memory of the program's own.
#ifndef TORCHTIDY_CONFIRM_PROBE_WRAPPED_H
#define TORCHTIDY_CONFIRM_PROBE_WRAPPED_H

#include "Hooks.h"

namespace torchtidy::confirm::probe {

/// Whether the hooks see memory being freed.
Binding freeBinding();

/// How many tensors lie over memory that is not on a stack: while there are
/// none, nobody asks what is freed.
extern std::atomic<uint32_t> WrapsOnHeap;

/// A tensor was laid over memory of the program's.
void isWrapped(const void *Tensor);
/// A block of malloc's is freed.
void blockFreed(void *Block, size_t Size);
/// The elements of a tensor are asked for by their address.
void elementsAsked(const void *Tensor);

/// Whether there are tensors whose memory is gone or may go with a frame.
bool isWatchingWraps();

// See ProbeSide.
bool isWatchingStorages();
void usesStorage(const void *Storage);
size_t bytesOfBlock(const void *Block);

// Around a fork.
void lockWrapped();
void unlockWrapped();

} // namespace torchtidy::confirm::probe

#endif
