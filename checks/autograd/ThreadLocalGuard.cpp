#include "autograd/ThreadLocalGuard.h"

namespace torchtidy::model {

std::vector<UnguardedThread> threadLocalGuards(Program &Program) {
  return unguardedThreads(Program);
}

} // namespace torchtidy::model
