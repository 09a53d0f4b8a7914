#include "torch/Scores.h"
#include "torch/Elements.h"
#include "torch/Modules.h"
#include "torch/Types.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace torchtidy::torch {

using AnyScale = std::optional<Scale>;
using AnyLoss = std::optional<ScaledLoss>;

AnyScale scaleOf(const Operation &Op) {
  return llvm::StringSwitch<AnyScale>(Op.Name)
      .Cases("softmax", "special_softmax", "_softmax", Scale::Probabilities)
      .Cases("sigmoid", "sigmoid_", "special_expit", Scale::Sigmoids)
      .Cases("log_softmax", "special_log_softmax", Scale::LogProbabilities)
      .Cases("log_sigmoid", "logsigmoid", Scale::LogProbabilities)
      .Cases("linear", "bilinear", "mm", "matmul", "addmm", Scale::Scores)
      .Cases("bmm", "baddbmm", Scale::Scores)
      .Cases("conv1d", "conv2d", "conv3d", Scale::Scores)
      .Default(std::nullopt);
}

AnyScale scaleOf(const CXXRecordDecl *Layer) {
  if (!Layer || !isLibTorch(Layer))
    return std::nullopt;
  return llvm::StringSwitch<AnyScale>(layerName(Layer))
      .Cases("Softmax", "Softmax2d", Scale::Probabilities)
      .Case("Sigmoid", Scale::Sigmoids)
      .Cases("LogSoftmax", "LogSigmoid", Scale::LogProbabilities)
      .Cases("Linear", "Bilinear", Scale::Scores)
      .Cases("Conv1d", "Conv2d", "Conv3d", Scale::Scores)
      .Default(std::nullopt);
}

bool keepsNumbers(const Operation &Op) {
  return keepsElements(Op) || isIndexing(Op) || isConcatenation(Op) ||
         llvm::StringSwitch<bool>(Op.Name)
             .Cases("gather", "index_select", "masked_select", true)
             .Cases("take", "take_along_dim", "flip", "roll", true)
             .Default(false);
}

bool keepsNumbers(const CXXRecordDecl *Layer) {
  return Layer && isLibTorch(Layer) &&
         llvm::StringSwitch<bool>(layerName(Layer))
             .Cases("Flatten", "Unflatten", "Identity", true)
             .Default(false);
}

bool isLogarithm(const Operation &Op) { return Op.Name == "log"; }

bool isExponential(const Operation &Op) { return Op.Name == "exp"; }

AnyLoss scaledLoss(const Operation &Op) {
  return llvm::StringSwitch<AnyLoss>(Op.Name)
      .Case("cross_entropy_loss", ScaledLoss::CrossEntropy)
      .Case("binary_cross_entropy_with_logits", ScaledLoss::BinaryWithLogits)
      .Case("binary_cross_entropy", ScaledLoss::Binary)
      .Cases("nll_loss", "nll_loss2d", "nll_loss_nd",
             ScaledLoss::NegativeLogLikelihood)
      .Case("kl_div", ScaledLoss::KlDivergence)
      .Default(std::nullopt);
}

AnyLoss scaledLoss(const CXXRecordDecl *Layer) {
  if (!Layer || !isLibTorch(Layer))
    return std::nullopt;
  return llvm::StringSwitch<AnyLoss>(layerName(Layer))
      .Case("CrossEntropyLoss", ScaledLoss::CrossEntropy)
      .Case("BCEWithLogitsLoss", ScaledLoss::BinaryWithLogits)
      .Case("BCELoss", ScaledLoss::Binary)
      .Case("NLLLoss", ScaledLoss::NegativeLogLikelihood)
      .Case("KLDivLoss", ScaledLoss::KlDivergence)
      .Default(std::nullopt);
}

bool takes(ScaledLoss Loss, Scale Given) {
  switch (Loss) {
  case ScaledLoss::CrossEntropy:
    return Given == Scale::Scores || Given == Scale::LogProbabilities;
  case ScaledLoss::BinaryWithLogits:
    return Given == Scale::Scores;
  case ScaledLoss::Binary:
    return Given == Scale::Probabilities || Given == Scale::Sigmoids;
  case ScaledLoss::NegativeLogLikelihood:
  case ScaledLoss::KlDivergence:
    return Given == Scale::LogProbabilities;
  }
  return true;
}

StringRef nameOf(ScaledLoss Loss) {
  switch (Loss) {
  case ScaledLoss::CrossEntropy:
    return "cross_entropy";
  case ScaledLoss::BinaryWithLogits:
    return "binary_cross_entropy_with_logits";
  case ScaledLoss::Binary:
    return "binary_cross_entropy";
  case ScaledLoss::NegativeLogLikelihood:
    return "nll_loss";
  case ScaledLoss::KlDivergence:
    return "kl_div";
  }
  return "";
}

} // namespace torchtidy::torch
