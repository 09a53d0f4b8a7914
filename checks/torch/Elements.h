// How one element of a tensor is named, read and written, and what prints it:
// ATen/core/TensorBody.h, ATen/TensorIndexing.h. Null is answered by no.
#ifndef TORCHTIDY_TORCH_ELEMENTS_H
#define TORCHTIDY_TORCH_ELEMENTS_H

#include "torch/Operations.h"
#include "clang/AST/Expr.h"

namespace torchtidy::torch {

/// item, is_nonzero: a number of a tensor of one element, on the host.
bool readsNumber(const Operation &Op);
/// [], select, index: one position of a dimension, or of several.
bool choosesPosition(const Operation &Op);
/// narrow, slice: some positions of a dimension.
bool choosesRange(const Operation &Op);
/// Of the same elements another arrangement, type or place; nothing is
/// computed: views, to, contiguous, clone.
bool keepsElements(const Operation &Op);

/// {i, j}: no slice and no tensor among the indices.
bool areNumbers(const clang::Expr *Indices);
/// Positions of the first dimensions: t[i], t.index({i, j}), select(0, i),
/// narrow(0, ..): of a tensor that lies in order they lie in order.
bool choosesLeading(const clang::CallExpr *Call);
/// clone: the same elements in memory of its own, always.
bool copiesElements(const Operation &Op);
/// How many of the first positions of a dimension are chosen, for each
/// dimension of which that is said: n of narrow(0, 0, n), slice(0, 0, n) and
/// index({Slice(0, n)}).
llvm::SmallVector<const clang::Expr *, 2>
firstPositions(const clang::CallExpr *Call);

/// topk: the argument that says how many are picked of a dimension; null for
/// other calls.
const clang::Expr *howManyPicked(const clang::CallExpr *Call);

/// A call that writes a number into a part of a tensor: t[i] = 1, t[i] += 1,
/// t.index_put_({i}, 1).
struct NumberWrite {
  /// The part: t[i]; of index_put_ the tensor, and the list of its indices.
  const clang::Expr *Part = nullptr, *Indices = nullptr;
  explicit operator bool() const { return Part; }
};
NumberWrite numberWrite(const clang::CallExpr *Call);

/// Text goes to a stream or to the standard output.
bool printsText(const clang::CallExpr *Call);
/// Text is added to a string, or a string to a list of them.
bool makesText(const clang::CallExpr *Call);
/// std::min of two.
bool isMinimum(const clang::FunctionDecl *F);

} // namespace torchtidy::torch

#endif
