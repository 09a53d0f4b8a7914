// Query: copies to a device that are asked not to block, and come from memory
// that is not pinned.
#ifndef TORCHTIDY_TRANSFER_PAGEABLETRANSFER_H
#define TORCHTIDY_TRANSFER_PAGEABLETRANSFER_H

#include "model/execution/Program.h"

namespace torchtidy::model {

struct PageableTransfer {
  const Execution *Entry = nullptr;
  const TransferEvent *Transfer = nullptr;
  /// The innermost loop around it, or null.
  const flow::Loop *Around = nullptr;
  /// Others of the same function and loop: what is done about one is done
  /// about all.
  llvm::SmallVector<const TransferEvent *, 2> Others;
};

/// Nothing is reported where the memory is pinned, or may be on some path,
/// where it is the caller's (from_blob), or the program pins what it has
/// (cudaHostRegister); where the target is known to be the CPU, or another
/// device than CUDA, where nothing can be anywhere but on the CPU; for what
/// happens once or is small; and for code that only tests run.
std::vector<PageableTransfer> pageableTransfers(Program &Program);

} // namespace torchtidy::model

#endif
