// Query: a copy from a device that the host reads without waiting for it.
#ifndef TORCHTIDY_TRANSFER_UNSYNCHRONIZEDCOPY_H
#define TORCHTIDY_TRANSFER_UNSYNCHRONIZEDCOPY_H

#include "model/execution/Program.h"

namespace torchtidy::model {

struct UnsynchronizedCopy {
  const Execution *Entry = nullptr;
  /// The copy: to(torch::kCPU, true), or copy_() into pinned memory.
  const clang::CallExpr *Copies = nullptr;
  const Frame *In = nullptr;
  /// The first place that reads the result.
  const ReadUnwaitedEvent *Read = nullptr;
};

/// Nothing on any path from the copy to the reading waits for the device, or is
/// a call that may do so out of sight. A pointer or accessor counts as read
/// where nothing waits later in the function that takes it.
std::vector<UnsynchronizedCopy> unsynchronizedCopies(Program &Program);

} // namespace torchtidy::model

#endif
