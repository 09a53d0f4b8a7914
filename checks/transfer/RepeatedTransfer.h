// Query: tensors that a loop moves or converts in every iteration.
#ifndef TORCHTIDY_TRANSFER_REPEATEDTRANSFER_H
#define TORCHTIDY_TRANSFER_REPEATEDTRANSFER_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// A tensor that a loop moves or converts in every iteration.
struct RepeatedTransfer {
  const Execution *Entry = nullptr;
  const TransferEvent *Transfer = nullptr;
  const flow::Loop *Around = nullptr;
  enum Kind {
    /// The tensor does not change: it is copied to the device, or converted.
    Copies,
    Converts,
    /// The samples of a batch, each by itself, which are stacked afterwards.
    Samples,
  } How = Copies;
  /// The variable that is declared with the result, or null.
  const clang::VarDecl *Variable = nullptr;
  bool CanMove = false;
  /// The tensor may be there already, or of that type: to() returns it itself
  /// then. A message only for those who want to hear of all.
  bool IsStrictOnly = false;
};

/// Nothing is reported for tensors that change or are bound anew in the loop,
/// that are on the device already, whose gradient is wanted, that move with
/// their module (buffers), or that a branch transfers (a cache); nor for code
/// that only tests run.
std::vector<RepeatedTransfer> repeatedTransfers(Program &Program);

} // namespace torchtidy::model

#endif
