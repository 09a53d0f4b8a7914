// Query: tensors that are copied from a device to the host, computed with there
// and copied to a device again.
#ifndef TORCHTIDY_TRANSFER_DEVICEROUNDTRIP_H
#define TORCHTIDY_TRANSFER_DEVICEROUNDTRIP_H

#include "model/execution/Program.h"

namespace torchtidy::model {

struct RoundTrip {
  const Execution *Entry = nullptr;
  /// To the host.
  const TransferEvent *Down = nullptr;
  /// To a device, in the order of the points; at least one.
  llvm::SmallVector<const TransferEvent *, 2> Up;
  /// Others to the host, from which the same is computed.
  llvm::SmallVector<const TransferEvent *, 2> DownAsWell;
};

/// What goes up was computed from what came down by operations on tensors that
/// a device does as well, on every path and in the same iteration. Nothing is
/// reported where the host reads the numbers, where something keeps them that
/// others see, where they are written in an inner loop, where nothing is
/// computed in between, where nothing can be anywhere but on the CPU, and for
/// code that only tests run.
std::vector<RoundTrip> roundTrips(Program &Program);

} // namespace torchtidy::model

#endif
