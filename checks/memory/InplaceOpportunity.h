// Query: chains of operations each of which makes a tensor for the next one.
#ifndef TORCHTIDY_MEMORY_INPLACEOPPORTUNITY_H
#define TORCHTIDY_MEMORY_INPLACEOPPORTUNITY_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// In each iteration of a loop an expression takes new memory for a result,
/// although nothing, and no graph, needs what it has just made.
struct InplaceOpportunity {
  const Execution *Entry = nullptr;
  /// The last operation of the chain, and all of them that could go on in the
  /// memory of their operand, from the first to that one.
  const ChainEvent *Last = nullptr;
  llvm::SmallVector<const ChainEvent *, 4> Links;
  const flow::Loop *Around = nullptr;
};

/// Nothing is reported where a graph may be recorded on any way there, outside
/// of loops, where the iteration has an inner loop beside it, where the tensor
/// is known to be small, and where the operation in place would refuse the type
/// of its operand, or may.
std::vector<InplaceOpportunity> inplaceOpportunities(Program &Program);

} // namespace torchtidy::model

#endif
