// Which tensors autograd keeps for backward(), by operation and by layer.
// Source: derivatives.yaml (what a formula names is kept: self, other, result)
// and the composite operations over it. Rows were run against LibTorch 2.11.0
// (the tensor was changed before backward(), which threw), but for
// binary_cross_entropy, layers in one or three dimensions, LSTM and RNN.
#ifndef TORCHTIDY_TORCH_SAVING_H
#define TORCHTIDY_TORCH_SAVING_H

#include "torch/Operations.h"
#include "clang/AST/DeclCXX.h"

namespace torchtidy::torch {

/// What is kept.
enum class Saved : uint8_t { Result, Operand, Weights };

namespace saving {
enum : uint8_t {
  Nothing = 0,
  /// The result: sigmoid, relu.
  Result = 1,
  /// The first tensor, because it needs a gradient itself: log, pow(x, 2).
  SelfForSelf = 2,
  /// The second, because the first needs one: mul, and the reverse.
  OtherForSelf = 4,
  SelfForOther = 8,
  OtherForOther = 16,
  /// One for the other: products.
  Cross = OtherForSelf | SelfForOther,
  /// Both, whichever needs one: maximum, mse_loss, conv2d.
  Both = Cross | SelfForSelf | OtherForOther,
};
} // namespace saving

/// What an operation keeps. Operations that write their first tensor in place
/// keep it as it was, in a copy; of these Self is no more than that.
uint8_t savedBy(const Operation &Op);
/// The place of the first of the two tensors among the operands: 1 of
/// addmm(bias, a, b).
unsigned firstFactor(const Operation &Op);
/// A first tensor that does not lie in order is copied, and the copy is kept:
/// matmul and linear, of more than two dimensions.
bool mayKeepCopy(const Operation &Op);
/// data(): an alias with a version of its own, writes through which nobody
/// notices. detach() shares the version.
bool hasOwnVersion(const Operation &Op);

/// What a layer of LibTorch keeps when it is run.
struct LayerSaving {
  bool Result = false;
  /// What it is given, when that needs a gradient.
  bool InputForItself = false;
  /// The same, when its own weights need one.
  bool InputForWeights = false;
  /// See mayKeepCopy().
  bool MayKeepCopy = false;
  /// Its weights: because its input needs a gradient, or always.
  bool WeightsForInput = false, Weights = false;
  /// Its steps need a gradient of each other.
  bool IsRecurrent = false;
};
LayerSaving savedBy(const clang::CXXRecordDecl *Layer);

} // namespace torchtidy::torch

#endif
