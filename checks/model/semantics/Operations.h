// Tensor operations: what the table (torch/OperationTable.inc) says of them,
// asked of each domain, and what they write.
#ifndef TORCHTIDY_SEMANTICS_OPERATIONS_H
#define TORCHTIDY_SEMANTICS_OPERATIONS_H

#include "model/semantics/CallSite.h"

namespace torchtidy::model {
namespace operations {

Denotation call(Machine &M, const CallSite &Site);
/// The data of Target gets Written, from Operand; added to what is there if it
/// Accumulates.
void writeInPlace(Machine &M, const clang::Expr *Site,
                  const clang::Expr *Target, const Value &Written,
                  bool Accumulates, const clang::Expr *Operand);

} // namespace operations
} // namespace torchtidy::model

#endif
