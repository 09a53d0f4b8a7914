// Query: bytes of a tensor that are counted in another type than it has.
#ifndef TORCHTIDY_QUERIES_MEMORY_COPIEDBYTES_H
#define TORCHTIDY_QUERIES_MEMORY_COPIEDBYTES_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// std::memcpy(to, t.data_ptr(), t.numel() * sizeof(float)), where t is half.
struct CopiedBytes {
  const Execution *Entry = nullptr;
  /// Where the pointer to the data is handed out.
  const WriteEvent *Pointer = nullptr;
  const clang::VarDecl *Tensor = nullptr;
  const clang::UnaryExprOrTypeTraitExpr *Size = nullptr;
  /// LibTorch's name of the tensor's type.
  llvm::StringRef Scalar;
  /// Of an element, and what the code takes for it.
  uint64_t Element = 0, Said = 0;
};

/// Nothing is reported where the type of the tensor is not the same on all
/// paths, where the program sets another default type, and where the count is
/// given to anything but a function that goes through so many bytes of the
/// pointer beside it.
std::vector<CopiedBytes> miscountedBytes(Program &Program);

} // namespace torchtidy::model

#endif
