// Query: tensors on a device that are larger in every iteration of a loop.
#ifndef TORCHTIDY_MEMORY_VARYINGSHAPES_H
#define TORCHTIDY_MEMORY_VARYINGSHAPES_H

#include "model/execution/Program.h"

namespace torchtidy::model {

struct GrowingTensor {
  const Execution *Entry = nullptr;
  /// The factory, the copy to a device, or the clone, that takes the memory.
  const clang::CallExpr *Makes = nullptr;
  const Frame *In = nullptr;
  const flow::Loop *Around = nullptr;
  /// It makes a copy of the first elements of a tensor that stays.
  bool IsPrefix = false;
};

/// Only sizes that grow for certain are reported: by the counter of the
/// innermost loop, or by what each iteration adds to a tensor. Nothing is
/// reported where a branch decides about the tensor, where it is kept beyond
/// its iteration with those of others, given to code that cannot be seen, on
/// the CPU, known to be small or to grow by little, for short loops, and for
/// code that only tests run.
std::vector<GrowingTensor> growingTensors(Program &Program);

} // namespace torchtidy::model

#endif
