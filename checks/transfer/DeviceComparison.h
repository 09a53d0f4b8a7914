// Query: comparisons of a tensor's device with one that has no index.
#ifndef TORCHTIDY_TRANSFER_DEVICECOMPARISON_H
#define TORCHTIDY_TRANSFER_DEVICECOMPARISON_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// A comparison that cannot tell: a tensor's device on an accelerator has an
/// index, and the other device has none.
struct DeviceComparison {
  const Execution *Entry = nullptr;
  const CompareEvent *Compare = nullptr;
  const clang::CXXOperatorCallExpr *Call = nullptr;
  /// What leads to the tensor's device, and the other.
  const clang::Expr *OfTensor = nullptr, *Other = nullptr;
  bool TensorIsLeft = true;
  /// The other device may be the CPU: there the comparison is right.
  bool MayBeCpu = false;
};

/// Nothing is reported where one side is not known to come from a tensor and
/// the other to be made without an index (parameters, members that may be
/// changed), for the CPU and meta, whose tensors have none, and where all that
/// the comparison decides is whether to() is called, which returns the tensor
/// itself where there is nothing to do.
std::vector<DeviceComparison> deviceComparisons(Program &Program);

} // namespace torchtidy::model

#endif
