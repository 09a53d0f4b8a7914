// What LibTorch's operations do: the generated table, as data.
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

} // namespace torchtidy::torch

#endif
