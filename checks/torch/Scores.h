// What becomes of scores on the way to a loss, and what losses take: softmax,
// log_softmax, sigmoid. Source: torch/nn/options/loss.h and the pages of the
// losses ("input is expected to contain the unnormalized logits"), and runs of
// LibTorch 2.11.0.
#ifndef TORCHTIDY_TORCH_SCORES_H
#define TORCHTIDY_TORCH_SCORES_H

#include "torch/Operations.h"
#include "clang/AST/DeclCXX.h"
#include <optional>

namespace torchtidy::torch {

/// What the numbers of a tensor are, as a loss sees them.
enum class Scale : uint8_t {
  /// Any number: the result of a layer, or of a product of matrices.
  Scores,
  /// Shares of one: softmax().
  Probabilities,
  /// Each between zero and one by itself: sigmoid().
  Sigmoids,
  /// Logarithms of these: log_softmax(), log_sigmoid().
  LogProbabilities,
};

/// What the result of an operation is, whatever its operands are. Nothing for
/// others.
std::optional<Scale> scaleOf(const Operation &Op);
/// The same of a layer.
std::optional<Scale> scaleOf(const clang::CXXRecordDecl *Layer);
/// The elements of the result are elements of the operand: views, copies, what
/// is chosen by indices.
bool keepsNumbers(const Operation &Op);
/// The same of a layer: Flatten.
bool keepsNumbers(const clang::CXXRecordDecl *Layer);
/// log and exp.
bool isLogarithm(const Operation &Op);
bool isExponential(const Operation &Op);

/// Losses of numbers that are on a certain scale. What they are given is their
/// first argument.
enum class ScaledLoss : uint8_t {
  /// Takes scores, and applies log_softmax().
  CrossEntropy,
  /// Takes scores, and applies sigmoid().
  BinaryWithLogits,
  /// Takes what sigmoid() has made, and applies a logarithm.
  Binary,
  /// Take logarithms.
  NegativeLogLikelihood,
  KlDivergence,
};
std::optional<ScaledLoss> scaledLoss(const Operation &Op);
std::optional<ScaledLoss> scaledLoss(const clang::CXXRecordDecl *Layer);

/// The loss is right for numbers on the scale, or does no harm: log_softmax()
/// of its own result is the same.
bool takes(ScaledLoss Loss, Scale Given);
/// As users write it: cross_entropy.
llvm::StringRef nameOf(ScaledLoss Loss);

} // namespace torchtidy::torch

#endif
