// What losses, and logarithms, are given.
#ifndef TORCHTIDY_SEMANTICS_LOSSES_H
#define TORCHTIDY_SEMANTICS_LOSSES_H

#include "model/semantics/CallSite.h"

namespace torchtidy::model::losses {

/// A tensor operation, or a function of torch::nn::functional: of its operands
/// the first is what it computes the loss of.
void tell(Machine &M, const clang::CallExpr *Call, const torch::Operation &Op,
          llvm::ArrayRef<const clang::Expr *> Operands);
/// The same of a layer: CrossEntropyLoss.
void tellOfLayer(Machine &M, const CallSite &Site);

} // namespace torchtidy::model::losses

#endif
