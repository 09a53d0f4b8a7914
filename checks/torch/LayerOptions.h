// Options of LibTorch's layers and of torch::nn::functional.
#ifndef TORCHTIDY_TORCH_LAYEROPTIONS_H
#define TORCHTIDY_TORCH_LAYEROPTIONS_H

#include "clang/AST/Expr.h"

namespace torchtidy::torch {

/// NormalizeFuncOptions, CrossEntropyLossOptions, not TensorOptions: of the
/// tensors that they could hold (out, weight) there are none but those that the
/// program puts in. Source: the TORCH_ARG of torch/nn/options/*.h, which begin
/// with none.
bool isLayerOptions(clang::QualType Type);

/// bias(false), affine(false), also of a variable that holds the options: a
/// layer that is made with them registers Member, its weight or bias, without a
/// tensor in it. Source: reset() in
/// torch/nn/modules/{conv,linear,batchnorm,normalization}.h.
bool leavesOut(const clang::Expr *Options, const clang::FieldDecl *Member);

} // namespace torchtidy::torch

#endif
