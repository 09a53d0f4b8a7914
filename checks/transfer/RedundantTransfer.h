// Query: transfers of what is there already, and copies beside a transfer that
// nobody needs.
#ifndef TORCHTIDY_TRANSFER_REDUNDANTTRANSFER_H
#define TORCHTIDY_TRANSFER_REDUNDANTTRANSFER_H

#include "model/execution/Program.h"

namespace torchtidy::model {

struct RedundantTransfer {
  const Execution *Entry = nullptr;
  enum Kind {
    /// x.clone().to(..), which copies x for certain.
    CloneBefore,
    /// The same for a device that the run chooses, of which neither what is
    /// copied nor the copy is written: on the CPU nobody needs one, either.
    UnwrittenClone,
    /// torch::stack(..).clone().to(..): what it copies nobody else has.
    FreshClone,
    /// torch::matmul(x, y).clone(), with no transfer beside it.
    FreshAlone,
    /// x.cpu().clone() of what may be on a device: where it is on the CPU, it
    /// is not written as long as the copy is there, nor is the copy.
    UnwrittenAfter,
    /// x.to(..).clone(), where to() copies for certain, or x is nobody else's.
    CloneAfter,
    /// x.cpu().to(device) of what is on that device, or on another than the
    /// CPU.
    WayBack,
    /// The tensor is on that device, or of that type: to() returns it.
    IsThere,
    HasType,
  } How = IsThere;
  /// What can be left out, and the transfer beside it, or itself. Of a clone()
  /// alone that.
  const clang::CallExpr *Call = nullptr;
  const Event *Transfer = nullptr;
};

/// Each holds however the function is called. Nothing is reported where a
/// device or a type is not certain: of a parameter or a member, of a device
/// that a variable names and that changes later; where to() is asked for a copy
/// or a memory format; for copies that are small; and for code that only tests
/// run.
std::vector<RedundantTransfer> redundantTransfers(Program &Program);

} // namespace torchtidy::model

#endif
