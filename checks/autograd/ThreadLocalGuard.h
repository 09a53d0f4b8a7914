// Query: forward passes in a thread that the guard around them does not hold
// for.
#ifndef TORCHTIDY_AUTOGRAD_THREADLOCALGUARD_H
#define TORCHTIDY_AUTOGRAD_THREADLOCALGUARD_H

#include "queries/graphs/UnguardedThreads.h"

namespace torchtidy::model {

/// What is not reported, unguardedThreads says.
std::vector<UnguardedThread> threadLocalGuards(Program &Program);

} // namespace torchtidy::model

#endif
