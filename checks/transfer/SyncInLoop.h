// Query: training loops in which the host waits for the device in every
// iteration, for numbers that it only records.
#ifndef TORCHTIDY_TRANSFER_SYNCINLOOP_H
#define TORCHTIDY_TRANSFER_SYNCINLOOP_H

#include "model/execution/Program.h"
#include "llvm/ADT/SmallVector.h"

namespace torchtidy::model {

struct SyncInLoop {
  enum Kind : uint8_t {
    /// item(): the number is printed, summed up, collected, asserted on.
    Number,
    /// The same of a tensor that is copied to the host: cpu().
    Copy,
    /// A tensor is printed.
    Text,
    /// How large the result of an operation is depends on the data: nonzero().
    Shape,
  };
  struct Place {
    const WaitEvent *Wait = nullptr;
    Kind How = Number;
  };

  const Execution *Entry = nullptr;
  const flow::Loop *Around = nullptr;
  /// In the order of the text; at least one. There is one fact for a loop.
  llvm::SmallVector<Place, 4> Waits;
};

/// A training loop has a backward() and no loop inside that has one. Nothing is
/// reported where an iteration may train and not wait (every so many, under a
/// condition), where the host needs a number in every iteration (it decides,
/// chooses, or goes back to the device), where the loop is short, where nothing
/// can be anywhere but on the CPU, and for code that only tests run.
std::vector<SyncInLoop> findSyncInLoop(Program &Program);

} // namespace torchtidy::model

#endif
