// Query: tensors that a loop computes anew from themselves, where it could
// write into them: x = x / s.
#ifndef TORCHTIDY_QUERIES_MEMORY_REBOUNDTENSOR_H
#define TORCHTIDY_QUERIES_MEMORY_REBOUNDTENSOR_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// In each iteration a variable, or a member, gets what an operation makes of
/// it, and nobody else has what was there before.
struct ReboundTensor {
  const Execution *Entry = nullptr;
  /// The assignment.
  const KeepEvent *Keep = nullptr;
  const clang::CallExpr *Operation = nullptr;
  const flow::Loop *Around = nullptr;
};

/// Nothing is reported where grad mode is on or a graph may be recorded, where
/// another holds the tensor, a view of it or the variable, where it may have
/// come from a caller, where the operation may change its type or its shape,
/// and where the tensor is known to be small. A member is reported only where
/// the same iteration writes into it in place already: whoever holds it sees
/// that.
std::vector<ReboundTensor> reboundTensors(Program &Program);

} // namespace torchtidy::model

#endif
