// What LibTorch's operations do: the generated table as data, and what no
// column of it says, asked by meaning. Source: native_functions.yaml,
// derivatives.yaml, and the documentation of torch.Tensor's methods of the same
// names.
#ifndef TORCHTIDY_TORCH_OPERATIONS_H
#define TORCHTIDY_TORCH_OPERATIONS_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace torchtidy::torch {

enum class Tri : uint8_t { No, Maybe, Yes };

namespace operation {
enum Variant : uint8_t { Method = 1, Function = 2 };
enum Returns : uint8_t { Tensor, Tensors, Scalar, Nothing, Mixed };
enum Writes : uint8_t { NoArgument, Self, Out, Other };
enum Flag : uint16_t {
  NoFlags = 0,
  /// Makes a tensor from no tensor: zeros, randn, arange.
  Factory = 1,
  /// Makes a tensor in the image of another: zeros_like, new_zeros.
  LikeFactory = 2,
  Random = 4,
  /// The result owns fresh storage.
  Allocates = 8,
  /// Changes the shape of its own argument: t_, squeeze_.
  InplaceView = 16,
  /// The result has no history: detach, data, item.
  DiscardsHistory = 32,
  Resizes = 64,
  ChangesDevice = 128,
  ChangesDtype = 256,
};
} // namespace operation

/// All overloads of one C++ name.
struct Operation {
  llvm::StringRef Name;
  uint8_t Variants;
  operation::Returns Returns;
  /// The result aliases the storage of the first tensor argument.
  Tri View;
  operation::Writes Writes;
  /// The result is connected to the autograd graph of the arguments.
  Tri Differentiable;
  /// The host waits for the device.
  Tri Sync;
  uint16_t Flags;

  bool has(operation::Flag Flag) const { return Flags & Flag; }
};

/// The operation of a C++ name ("add_"), as a method of at::Tensor or as a
/// function of the namespaces at and torch; null when the table has none.
const Operation *findOperation(llvm::StringRef Name,
                               operation::Variant Variant);
/// The method that does the same in place: add_ of add. Null where there is
/// none.
const Operation *inPlaceOf(const Operation &Op);
/// What stands for the losses of LibTorch's modules where only that it is one
/// matters: several tensors on one device, one number of them.
const Operation &anyLoss();

// Moving and converting.

enum class Transfer : uint8_t {
  None,
  /// to(): its arguments say where to, or which type.
  To,
  /// toType(): converts.
  ToType,
  Cpu,
  Cuda,
};
/// A transfer returns a copy on another device or of another type, or the
/// tensor itself when there is nothing to do.
Transfer transferOf(const Operation &Op);
inline bool isTransfer(const Operation &Op) {
  return transferOf(Op) != Transfer::None;
}

/// Tensors on two devices are refused, as far as they are no single numbers:
/// add, mm, cat, nll_loss.
bool needsOneDevice(const Operation &Op);
/// Computes element by element, with the numbers of tensors without dimensions
/// wherever they are: add, eq, and add_.
bool isElementwise(const Operation &Op);
/// Of these: a tensor without dimensions may be on the CPU: add, where.
bool takesHostNumber(const Operation &Op);
/// view, reshape, expand, repeat: an argument is the shape of the result.
bool takesShape(const Operation &Op);
/// pin_memory.
bool pinsMemory(const Operation &Op);
/// The result has the dimensions of the operand, or of those that have some.
bool keepsDimensions(const Operation &Op);

// Storage and layout.

/// from_blob: the memory is the caller's.
bool isFromBlob(const Operation &Op);
/// contiguous(): the result lies in order.
bool makesContiguous(const Operation &Op);
/// The result lies in order, however the operand lies: softmax, log_softmax
/// (aten/src/ATen/native/SoftMax.cpp gives their results no strides).
bool laysOutAnew(const Operation &Op);
/// The same elements in another shape or another order, or some of them:
/// unsqueeze, flatten, permute, narrow.
bool changesShape(const Operation &Op);
/// Of views: the dimensions come in another order. t, transpose, permute.
bool reordersDimensions(const Operation &Op);
/// Of views: the elements lie in the order of the operand's. view, squeeze,
/// detach, to.
bool keepsOrder(const Operation &Op);
/// When there is nothing to do, these return the tensor itself, with its
/// history: contiguous, flatten, pin_memory.
bool mayReturnItself(const Operation &Op);
/// The result shares the storage of a contiguous operand, and copies others:
/// contiguous, reshape, flatten.
bool sharesContiguous(const Operation &Op);
/// The tensor gets other memory: set_, and what resizes.
bool replacesStorage(const Operation &Op);
/// set_: the tensor becomes another view of memory; no value is computed.
bool isSet(const Operation &Op);
/// index(): whether it is a view depends on the indices.
bool isIndexing(const Operation &Op);

/// Of an operation that copies some elements: what writes into them where they
/// are. index_put_ of index, masked_fill_ of masked_select. Empty for others.
llvm::StringRef writingInstead(const Operation &Op);

// Writing. Asked of operations that write.

/// What was there is replaced, not computed with: zero_, fill_, copy_.
bool replacesContent(const Operation &Op);
/// copy_: the content of another tensor, which may be on another device.
bool copiesInto(const Operation &Op);
/// zero_.
bool isZeroing(const Operation &Op);
/// The result is added to what is there: add_, sub_. += is add_.
bool isAccumulating(const Operation &Op);
/// Writes what belongs to the tensor, not its data: retain_grad, set_data,
/// rename_.
bool changesNoData(const Operation &Op);
/// Changes how the tensor is recorded, not its data: detach_, requires_grad_.
bool changesHistoryOnly(const Operation &Op);
/// detach_, and of these detach() too.
bool isDetachInPlace(const Operation &Op);
bool isDetach(const Operation &Op);
/// The result is the last argument: add_outf. It is the first of add_out.
bool writesLastArgument(const Operation &Op);

// Results.

/// Of two results the second holds indices and is not differentiable (max,
/// topk; derivatives.yaml: output_differentiability [True, False]).
bool returnsIndices(const Operation &Op);
/// The result is of type Bool: comparisons, isnan, logical_and.
bool returnsBool(const Operation &Op);
/// Bits of integers, or of masks, with each other: the type stays.
bool isBitwise(const Operation &Op);
/// cat, concat, stack, hstack, vstack: one tensor of several.
bool isConcatenation(const Operation &Op);
/// add, sub.
bool isSum(const Operation &Op);
/// mul, div.
bool isScaling(const Operation &Op);

} // namespace torchtidy::torch

#endif
