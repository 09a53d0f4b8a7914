// Autograd: backward(), grad(), gradients, leaves. Source:
// torch/csrc/api/include/torch/autograd.h, ATen/core/TensorBody.h.
#ifndef TORCHTIDY_SEMANTICS_AUTOGRAD_H
#define TORCHTIDY_SEMANTICS_AUTOGRAD_H

#include "model/semantics/CallSite.h"

namespace torchtidy::model {
namespace autograd {

/// Tensor::backward, torch::autograd::backward.
Denotation backward(Machine &M, const CallSite &Site);
/// torch::autograd::grad.
Denotation grad(Machine &M, const CallSite &Site);
/// Tensor::grad, mutable_grad.
Denotation gradient(Machine &M, const CallSite &Site);
/// detach_() on what may be leaves: they need no gradient from then on.
void detachLeaves(Machine &M, const PlaceSet &Tensors);
/// requires_grad_, set_requires_grad.
Denotation requireGrad(Machine &M, const CallSite &Site);
/// Tensor::grad_fn.
Denotation gradFn(Machine &M, const CallSite &Site);

/// A hook of a tensor is registered or taken away.
void emitHook(Machine &M, const CallSite &Site);
/// Gradients, which these are, are zero or undefined from now on.
void emitCleared(Machine &M, const clang::Expr *Site,
                 const PlaceSet &Gradients);

} // namespace autograd
} // namespace torchtidy::model

#endif
