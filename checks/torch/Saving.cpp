#include "torch/Saving.h"
#include "ast/Names.h"
#include "torch/Types.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace torchtidy::torch {

using namespace saving;

/// Of the operations in place: what they keep when they have written.
static uint8_t savedInPlace(llvm::StringRef Name) {
  return llvm::StringSwitch<uint8_t>(Name)
      .Cases("sigmoid_", "tanh_", "exp_", "relu_", "leaky_relu_", Result)
      .Cases("mul_", "div_", OtherForSelf)
      .Default(Nothing);
}

uint8_t savedBy(const Operation &Op) {
  if (Op.Writes == operation::Self)
    return savedInPlace(Op.Name);
  return llvm::StringSwitch<uint8_t>(Op.Name)
      .Cases("sigmoid", "tanh", "exp", "exp2", "expm1", Result)
      .Cases("sqrt", "rsqrt", "reciprocal", "relu", "tan", Result)
      .Cases("softmax", "log_softmax", "inverse", Result)
      .Cases("std", "norm", "prod", "logsumexp", "cumprod", "amax",
             Result | SelfForSelf)
      .Cases("abs", "log", "log2", "log10", "log1p", SelfForSelf)
      .Cases("sin", "cos", "sinh", "cosh", SelfForSelf)
      .Cases("asin", "acos", "atan", "erf", "erfc", SelfForSelf)
      .Cases("square", "var", "lgamma", "digamma", SelfForSelf)
      .Cases("relu6", "selu", "elu", "celu", "silu", "gelu", SelfForSelf)
      .Cases("mish", "hardtanh", "hardsigmoid", "hardswish", SelfForSelf)
      .Cases("leaky_relu", "softplus", "log_sigmoid", "threshold", SelfForSelf)
      .Cases("clamp", "clamp_min", "clamp_max", "clip", SelfForSelf)
      .Cases("mul", "mm", "matmul", "bmm", "mv", "dot", Cross)
      .Cases("inner", "outer", "ger", "cross", "linear", Cross)
      .Cases("addmm", "baddbmm", "addcmul", Cross)
      .Cases("div", "addcdiv", "kl_div", Cross | OtherForOther)
      .Cases("fmod", "remainder", SelfForOther | OtherForOther)
      .Cases("pow", "maximum", "minimum", "atan2", "xlogy", Both)
      .Cases("mse_loss", "smooth_l1_loss", "huber_loss", Both)
      .Cases("binary_cross_entropy_with_logits", "prelu", "logaddexp", Both)
      .Cases("conv1d", "conv2d", "conv3d", Both)
      .Case("binary_cross_entropy", Both)
      .Default(Nothing);
}

unsigned firstFactor(const Operation &Op) {
  return llvm::StringSwitch<unsigned>(Op.Name)
      .Cases("addmm", "baddbmm", "addcmul", "addcdiv", 1)
      .Default(0);
}

bool mayKeepCopy(const Operation &Op) {
  return Op.Name == "matmul" || Op.Name == "linear" || Op.Name == "inner";
}

bool hasOwnVersion(const Operation &Op) {
  return Op.Name == "data" || Op.Name == "variable_data" ||
         Op.Name == "tensor_data";
}

LayerSaving savedBy(const CXXRecordDecl *Layer) {
  LayerSaving Result;
  if (!Layer || !isLibTorch(Layer))
    return Result;
  llvm::StringRef Name = ast::nameOf(Layer);
  Name.consume_back("Impl");
  const bool IsNorm = llvm::StringSwitch<bool>(Name)
                          .Cases("BatchNorm1d", "BatchNorm2d", true)
                          .Cases("BatchNorm3d", "LayerNorm", true)
                          .Default(false);
  const bool IsConvolution =
      llvm::StringSwitch<bool>(Name)
          .Cases("Conv1d", "Conv2d", "Conv3d", true)
          .Cases("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", true)
          .Default(false);
  Result.Result = llvm::StringSwitch<bool>(Name)
                      .Cases("ReLU", "Sigmoid", "Tanh", true)
                      .Cases("Softmax", "LogSoftmax", true)
                      .Default(false);
  Result.InputForItself =
      IsNorm || IsConvolution ||
      llvm::StringSwitch<bool>(Name)
          .Cases("GELU", "SiLU", "Softplus", true)
          .Cases("MaxPool2d", "AvgPool2d", "AdaptiveAvgPool2d", true)
          .Default(false);
  Result.MayKeepCopy = Name == "Linear";
  Result.InputForWeights = IsNorm || IsConvolution || Name == "Linear";
  Result.WeightsForInput = Name == "Linear";
  Result.IsRecurrent = Name == "GRU" || Name == "LSTM" || Name == "RNN";
  Result.Weights = IsNorm || IsConvolution || Result.IsRecurrent;
  return Result;
}

} // namespace torchtidy::torch
