// Tensors over memory of the program's own.
#ifndef TORCHTIDY_CONFIRM_PROBE_WRAPPED_H
#define TORCHTIDY_CONFIRM_PROBE_WRAPPED_H

#include "Hooks.h"

namespace torchtidy::confirm::probe {

/// Whether the hooks see memory being freed.
Binding freeBinding();

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
