// Optimizers: what they are given to train, step(), zero_grad(). Source:
// torch/csrc/api/include/torch/optim/optimizer.h.
#ifndef TORCHTIDY_SEMANTICS_OPTIMIZERS_H
#define TORCHTIDY_SEMANTICS_OPTIMIZERS_H

#include "model/semantics/CallSite.h"

namespace torchtidy::model {
namespace optimizers {

/// An optimizer at P over what its first argument lists.
void construct(Machine &M, const clang::Expr *Site, PlaceId P,
               llvm::ArrayRef<const clang::Expr *> Arguments);
Denotation step(Machine &M, const CallSite &Site);
/// Target is written, at Site, with what is computed from Operands: where that
/// is its own gradient, a step is made without an optimizer.
void stepByHand(Machine &M, const clang::Expr *Site, const clang::Expr *Target,
                llvm::ArrayRef<const clang::Expr *> Operands);
/// Of an optimizer, or of a module.
Denotation zeroGrad(Machine &M, const CallSite &Site);
/// add_param_group, add_parameters.
Denotation add(Machine &M, const CallSite &Site);
/// param_groups, parameters of an optimizer or of a group.
Denotation parameters(Machine &M, const CallSite &Site);

} // namespace optimizers
} // namespace torchtidy::model

#endif
