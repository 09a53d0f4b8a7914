// Query about memory that tensors are laid over: from_blob.
#ifndef TORCHTIDY_MODEL_BLOBS_H
#define TORCHTIDY_MODEL_BLOBS_H

#include "model/Program.h"
#include "torch/Scalars.h"

namespace torchtidy::model {

/// A tensor that takes memory for something else than it is.
struct MistypedBlob {
  const Execution *Way;
  const Event *Blob;
  /// What the pointer leads to.
  clang::QualType Pointee;
  torch::Element Memory;
  /// The scalar type of the tensor by LibTorch's name.
  llvm::StringRef ReadAs;
  /// It is written; otherwise it is the default.
  bool IsSaid;
};

/// Nothing is reported where the pointee or the scalar type is not known, and
/// for byte buffers whose scalar type is written.
std::vector<MistypedBlob> mistypedBlobs(Program &Program);

/// The argument that says of which type and on which device the tensor is;
/// null where it is left out.
const clang::Expr *blobOptions(const clang::CallExpr *Call);

} // namespace torchtidy::model

#endif
