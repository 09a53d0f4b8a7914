// Options of LibTorch's layers that leave tensors out of them.
#ifndef TORCHTIDY_TORCH_LAYEROPTIONS_H
#define TORCHTIDY_TORCH_LAYEROPTIONS_H

#include "clang/AST/Expr.h"

namespace torchtidy::torch {

/// bias(false), affine(false), also of a variable that holds the options: a
/// layer that is made with them registers Member, its weight or bias, without a
/// tensor in it. Source: reset() in
/// torch/nn/modules/{conv,linear,batchnorm,normalization}.h.
bool leavesOut(const clang::Expr *Options, const clang::FieldDecl *Member);

} // namespace torchtidy::torch

#endif
