#include "torch/Arithmetic.h"
#include "llvm/ADT/StringSwitch.h"

namespace torchtidy::torch {

bool isDifference(const Operation &Op) {
  return Op.Name == "sub" || Op.Name == "sub_";
}

bool isQuotient(const Operation &Op) { return Op.Name == "div"; }

bool returnsFloating(const Operation &Op) {
  return llvm::StringSwitch<bool>(Op.Name)
      .Cases("exp", "expm1", "log", "log2", "log10", "log1p", true)
      .Cases("sqrt", "rsqrt", "reciprocal", "sigmoid", "tanh", true)
      .Cases("sin", "cos", "tan", "erf", "erfc", "softplus", true)
      .Cases("softmax", "log_softmax", "div", "mean", "std", "var", true)
      .Cases("rand", "randn", "rand_like", "randn_like", true)
      .Cases("conv1d", "conv2d", "conv3d", "linear", true)
      .Cases("layer_norm", "batch_norm", "gelu", "silu", "elu", true)
      .Default(false);
}

bool returnsNumber(const Operation &Op) {
  return Op.Name.ends_with("_loss") || Op.Name == "dot" ||
         Op.Name.starts_with("binary_cross_entropy");
}

bool keepsAnyType(const Operation &Op) {
  return llvm::StringSwitch<bool>(Op.Name)
      .Cases("relu", "neg", "abs", "square", "clamp", true)
      .Cases("clamp_min", "clamp_max", true)
      .Default(false);
}

bool takesTypeOfFirst(const Operation &Op) {
  return llvm::StringSwitch<bool>(Op.Name)
      .Cases("index_select", "index", "take", "take_along_dim", true)
      .Cases("gather", "masked_select", "repeat_interleave", true)
      .Case("embedding", true)
      .Default(false);
}

} // namespace torchtidy::torch
