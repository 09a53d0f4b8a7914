// Which part of its operand a view is: ATen/TensorIndexing.h, and the
// documentation of torch.Tensor's methods of the same names.
#ifndef TORCHTIDY_TORCH_VIEWS_H
#define TORCHTIDY_TORCH_VIEWS_H

#include "torch/Operations.h"
#include "clang/AST/Expr.h"
#include <optional>

namespace torchtidy::torch {

/// as_strided: any part of the storage, whatever the operand is of it.
bool isAsStrided(const Operation &Op);

/// Some positions of a dimension. A bound is null where the range goes to the
/// end of the dimension.
struct Range {
  const clang::Expr *First = nullptr, *Second = nullptr;
  /// Second is how many; otherwise it is where the range ends.
  bool IsLength = false;
  /// Not each of them.
  bool HasStep = false;
};
/// Of narrow(dim, start, length) and slice(dim, start, end, step), whose bounds
/// may be left out; nothing for other calls.
std::optional<Range> rangeOf(const clang::CallExpr *Call);

/// Of which dimension of which tensor a number is the size: x.size(1).
struct DimensionSize {
  const clang::Expr *Tensor, *Dimension;
};
/// Nothing where \p E is no size of a dimension that is named.
std::optional<DimensionSize> sizeAt(const clang::Expr *E);

/// One of the indices of index({0, Slice(), None}).
struct Index {
  enum Kind {
    /// One position of a dimension.
    Position,
    /// Some of a dimension: Slice().
    Several,
    /// A dimension that is put in: None.
    NewDimension,
    /// As many dimensions as there are: "...".
    Rest,
  } Is;
  const clang::Expr *Number = nullptr;
  Range Of;
};
/// Those of index(), where the result is a view; nothing where there is a
/// tensor, or what may be one, among them: that copies.
std::optional<llvm::SmallVector<Index, 4>>
indicesOf(const clang::CallExpr *Call);

/// The tensors among the indices of index(): a mask or several of one dimension
/// make the result a copy, one number of no dimension does not
/// (ATen/TensorIndexing.h, handleDimInMultiDimIndexing).
llvm::SmallVector<const clang::Expr *, 2>
tensorIndices(const clang::CallExpr *Call);

/// The argument whose tensors a call writes to a file or a buffer, each with
/// all of its storage: torch::save, pickle_save, OutputArchive::write. Null for
/// other calls.
const clang::Expr *savesStorageOf(const clang::CallExpr *Call);

} // namespace torchtidy::torch

#endif
