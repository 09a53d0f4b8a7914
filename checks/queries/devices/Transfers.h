// What several queries ask of transfers: whether they copy at all, and where
// to.
#ifndef TORCHTIDY_QUERIES_DEVICES_TRANSFERS_H
#define TORCHTIDY_QUERIES_DEVICES_TRANSFERS_H

#include "model/execution/Execution.h"
#include "clang/AST/ExprCXX.h"

namespace torchtidy::model {

/// Where it goes, the tensor is, or of that type: to() returns the tensor
/// itself.
bool isThereAlready(const TransferEvent &Transfer);

/// The copy may be on another device than the CPU.
inline bool mayLeaveCpu(const TransferEvent &Transfer) {
  return Transfer.MovesDevice && Transfer.Result.OnDevice.get() != Device::CPU;
}

/// A transfer may be asked for another type, by any of its arguments.
bool mayConvert(const clang::CallExpr *Call);

} // namespace torchtidy::model

#endif
