// Query: memory of a device that is taken past LibTorch's allocator and that
// nothing frees.
#ifndef TORCHTIDY_MEMORY_UNTRACKEDCUDAMEMORY_H
#define TORCHTIDY_MEMORY_UNTRACKEDCUDAMEMORY_H

#include "model/execution/Program.h"

namespace torchtidy::model {

struct UntrackedMemory {
  const Execution *Entry = nullptr;
  /// The allocation, and the local variable that has the only pointer to it.
  const clang::CallExpr *Takes = nullptr;
  const clang::VarDecl *Pointer = nullptr;
  const Frame *In = nullptr;
  /// The from_blob() that makes it the data of a tensor, or null.
  const clang::CallExpr *Blob = nullptr;
  /// The innermost loop around the allocation, or null.
  const flow::Loop *Around = nullptr;
};

/// Nothing is reported where the pointer is a parameter, a member or a global,
/// is freed anywhere in its function, goes to a function that may keep or free
/// it, to an owner or to the caller, where a deleter frees it, and for code
/// that only tests run; without a tensor also of a main, where it is taken
/// once.
std::vector<UntrackedMemory> untrackedMemory(Program &Program);

} // namespace torchtidy::model

#endif
