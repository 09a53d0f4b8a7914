// What elementwise operations compute, and of which type their results are.
#ifndef TORCHTIDY_TORCH_ARITHMETIC_H
#define TORCHTIDY_TORCH_ARITHMETIC_H

#include "torch/Operations.h"
#include "clang/AST/Expr.h"

namespace torchtidy::torch {

/// Of isSum() and isAccumulating(): sub, sub_.
bool isDifference(const Operation &Op);
/// Of isScaling(): div.
bool isQuotient(const Operation &Op);

/// The result is in a floating type, whatever the operand is in, or the
/// operation takes no other: exp, sqrt, div, softmax, rand, conv2d.
bool returnsFloating(const Operation &Op);
/// The result is a single number, whatever the operand is: a loss, dot. Of
/// reduces(), too, where no dimension is given.
bool returnsNumber(const Operation &Op);
/// The result has the type of the operand, but for Bool: relu, neg, clamp.
bool keepsAnyType(const Operation &Op);
/// Of one tensor, and not of two that are added.
bool isOfOneTensor(const clang::CallExpr *Call);
/// A double or float, and no tensor: 0.5 of x * 0.5.
bool isFloatingNumber(const clang::Expr *E);
/// E, which an operation makes, is in a floating type for certain: by an
/// operation that returns no other, or by a number.
bool makesFloating(const clang::Expr *E);
/// The other tensors are indices, masks or counts, and have no say in the type
/// of the result: index_select, gather, masked_select, embedding.
bool takesTypeOfFirst(const Operation &Op);

} // namespace torchtidy::torch

#endif
