// Query: tensors over memory (from_blob) of another type than theirs.
#ifndef TORCHTIDY_LIFETIME_BLOBDTYPE_H
#define TORCHTIDY_LIFETIME_BLOBDTYPE_H

#include "model/execution/Program.h"
#include "torch/Scalars.h"

namespace torchtidy::model {

/// A tensor that takes memory for something else than it is.
struct MistypedBlob {
  const Execution *Entry = nullptr;
  const BorrowEvent *Blob = nullptr;
  /// What the pointer leads to.
  clang::QualType Pointee;
  torch::Element Memory;
  /// The scalar type of the tensor by LibTorch's name.
  llvm::StringRef ReadAs;
  /// It is written; otherwise it is the default.
  bool IsSaid = false;
  /// The code goes on with a tensor of ReadAs: it does not convert what it
  /// gets, nor write into the memory through it. With another type, what
  /// follows may throw.
  bool IsTypeNeeded = false;
};

/// Nothing is reported where the pointee or the scalar type is not known, and
/// for byte buffers whose scalar type is written.
std::vector<MistypedBlob> mistypedBlobs(Program &Program);

} // namespace torchtidy::model

#endif
