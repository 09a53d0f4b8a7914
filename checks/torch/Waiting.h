// What makes the host wait for the device: synchronisations that are written as
// such, and operations that need a value or a size on the host. Sources:
// c10/core/Event.h and Stream.h, c10/cuda/CUDAFunctions.h, torch/cuda.h,
// ATen/DeviceAccelerator.h, ATen/core/Formatting.h, the CUDA runtime's manual,
// and the column Sync of the table of operations. Null is answered by no.
#ifndef TORCHTIDY_TORCH_WAITING_H
#define TORCHTIDY_TORCH_WAITING_H

#include "clang/AST/Expr.h"

namespace torchtidy::torch {

/// All that it does is to wait: torch::cuda::synchronize, synchronize() of a
/// stream or an event, c10::cuda::device_synchronize, cudaDeviceSynchronize.
bool isSynchronisation(const clang::FunctionDecl *F);

/// query() of an event or a stream: who asks until the answer is yes has
/// waited.
bool asksWhetherDone(const clang::FunctionDecl *F);

/// What the host waits for.
enum class Wait : uint8_t {
  /// It does not: the operation is only enqueued. (Or it is not known to.)
  None,
  /// That the device is done: isSynchronisation().
  Device,
  /// A number: item, is_nonzero, equal, allclose, t[index] by a tensor.
  Number,
  /// A copy of a tensor, where it goes to the host and is not said to be
  /// non_blocking: cpu, to, copy_. Where it goes is for the model to say.
  Copy,
  /// What a tensor holds as text, or in a file: <<, print, save.
  Text,
  /// How large the result is: nonzero, masked_select, unique, where of one.
  Shape,
  /// The same where an index is a mask: index, index_put_.
  MaskedShape,
  /// Whether it went well, or something else inside: svd, inverse,
  /// clip_grad_norm_, emptyCache, cudaMemcpy, cudaFree.
  Other,
};

/// For the tensors of a call that lie on a device; on the CPU there is nothing
/// to wait for. Reads through a pointer or an accessor wait for nothing.
Wait waitOf(const clang::CallExpr *Call);

} // namespace torchtidy::torch

#endif
