// What operations do with the shape of their operand, and with the order in
// which its elements lie. Source: the documentation of torch.Tensor's methods
// of the same names.
#ifndef TORCHTIDY_TORCH_SHAPES_H
#define TORCHTIDY_TORCH_SHAPES_H

#include "torch/Operations.h"

namespace torchtidy::torch {

enum class ShapeRule : uint8_t {
  Unknown,
  /// A list says the sizes: view, reshape, zeros.
  Listed,
  /// The same, but for -1, which keeps a size: expand.
  Expanded,
  /// Each size is multiplied: repeat, tile.
  Repeated,
  /// relu, exp, contiguous, detach, to: the shape of the operand.
  Same,
  /// add, where: that of all operands together.
  Broadcast,
  /// A dimension of size one is put in: unsqueeze.
  Unsqueezed,
  /// The two dimensions of a matrix change places: t.
  Transposed,
  /// Two dimensions that are named do: transpose.
  Swapped,
  /// All dimensions are listed in their new order: permute.
  Permuted,
  /// sum, mean: of all elements, or of some dimensions, which are left out, or
  /// kept with a size of one.
  Reduced,
  /// A loss, a scalar product: one number, unless a loss is told otherwise.
  Number,
  /// The first dimension, or one that is named, goes: x[i], select.
  Selected,
  /// A dimension that is named gets another size: narrow, index_select.
  Resized,
  /// What the list of indices leaves: index({0, Slice(), None}).
  Indexed,
  /// One dimension or more, whatever the operands have: cat, which refuses
  /// single numbers, stack, flatten, multinomial, masked_select.
  AtLeastOne,
  /// The product of two matrices: mm.
  MatrixProduct,
  /// Of as many as there are: bmm.
  BatchedProduct,
  /// Of vectors, matrices or many of them: matmul.
  AnyProduct,
};
ShapeRule shapeRule(const Operation &Op);

/// Operations that go through all their tensors element by element, and
/// stretch dimensions of size one: add, where, lt. With those that write the
/// first: add_, copy_.
bool broadcasts(const Operation &Op);
/// Of these, with the tensor that gets the result as an argument: add_out.
bool broadcastsInto(const Operation &Op);
/// Of one tensor, element by element; the result lies in memory as it does:
/// relu, exp.
bool isPointwise(const Operation &Op);
/// numel(): how many elements a tensor has.
bool countsElements(const clang::FunctionDecl *Member);
/// The argument that says whether the dimensions that go are kept with a size
/// of one (keepdim). Null where it is not written, or there is none.
const clang::Expr *keepsDimensionsArgument(const clang::CallExpr *Call);
/// sum(), mean(), norm(): numbers of all elements, whatever their order.
bool reduces(const Operation &Op);
/// The result is a list of parts, which together are the operand: split, chunk.
bool splits(const Operation &Op);
/// The result has elements of the operands, in memory of its own: index_select,
/// flip, cat.
bool rearranges(const Operation &Op);
/// The result is a copy of the operand, again and again along its dimensions.
bool repeats(const Operation &Op);
/// Of these: repeats(), whose list has a number for each dimension of the
/// result.
bool repeatsEachDimension(const Operation &Op);
/// Of these: repeat_interleave(n, dim).
bool takesTimesAndDimension(const Operation &Op);

} // namespace torchtidy::torch

#endif
