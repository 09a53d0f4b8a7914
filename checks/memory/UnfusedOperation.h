// Query: products that are made only to be added, and probabilities of which
// only the logarithm is wanted, where one operation does both.
#ifndef TORCHTIDY_MEMORY_UNFUSEDOPERATION_H
#define TORCHTIDY_MEMORY_UNFUSEDOPERATION_H

#include "model/execution/Program.h"

namespace torchtidy::model {

enum class Fused : uint8_t {
  /// x + a * b: addcmul.
  Product,
  /// x + a / b: addcdiv.
  Quotient,
  /// x + 2 * a: add(x, a, 2).
  Scaled,
};

/// In each iteration of a loop a tensor is made that is added at once.
struct UnfusedOperation {
  const Execution *Entry = nullptr;
  const Frame *In = nullptr;
  const flow::Loop *Around = nullptr;
  Fused As = Fused::Product;
  /// The sum, and the product in it.
  const clang::CallExpr *Sum = nullptr, *Product = nullptr;
  /// What it is added to, or subtracted from, and the factors: the tensor
  /// first.
  const clang::Expr *To = nullptr, *First = nullptr, *Second = nullptr;
  bool IsSubtracted = false;
  /// +=, add_: what it is added to becomes the sum.
  bool IsInPlace = false;
};

/// Nothing is reported outside of loops, of products that have a name, where
/// the sum has a factor of its own, and of what a product is subtracted from
/// it.
std::vector<UnfusedOperation> unfusedOperations(Program &Program);

/// log(softmax(x)), which is log_softmax(x), and the same of sigmoid(): what
/// softmax() rounds to zero has no logarithm.
struct UnfusedLogarithm {
  const Execution *Entry = nullptr;
  /// The logarithm, or a loss that takes one.
  const ScaleUseEvent *Use = nullptr;
  torch::Scale Of = torch::Scale::Probabilities;
  /// What has made the probabilities; null where several calls have.
  const clang::CallExpr *Maker = nullptr;
};

/// In loops and outside. Nothing where a number was added to the probabilities,
/// or they were changed otherwise.
std::vector<UnfusedLogarithm> unfusedLogarithms(Program &Program);

} // namespace torchtidy::model

#endif
