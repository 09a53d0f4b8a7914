// Whether the kernel ends processes here for want of memory.
#ifndef TORCHTIDY_CONFIRM_RUN_OUTOFMEMORY_H
#define TORCHTIDY_CONFIRM_RUN_OUTOFMEMORY_H

#include <cstdint>
#include <optional>

namespace torchtidy::confirm {

/// How many it has ended until now: of this process's control group, or of the
/// machine where that is not counted. Nothing where neither is known.
std::optional<uint64_t> killedForMemory();

} // namespace torchtidy::confirm

#endif
