// Query: tensors that are copied to another device, or converted, only to be
// asked what the original knows as well.
#ifndef TORCHTIDY_TRANSFER_TRANSFERFORMETADATA_H
#define TORCHTIDY_TRANSFER_TRANSFERFORMETADATA_H

#include "model/execution/Program.h"
#include "clang/AST/ExprCXX.h"

namespace torchtidy::model {

struct MetadataTransfer {
  const Execution *Entry = nullptr;
  const TransferEvent *Transfer = nullptr;
  /// x.to(device), and what is asked of it: all that is done with it, here or
  /// in functions of the file that are given it.
  const clang::CXXMemberCallExpr *Call = nullptr;
  llvm::SmallVector<const clang::CXXMemberCallExpr *, 2> Questions;
  /// One question, of what the call returns itself.
  bool IsDirect = false;
  /// The variable that is declared with the copy, or null.
  const clang::VarDecl *Variable = nullptr;
};

/// Nothing is reported where anything else becomes of the copy, where it is
/// asked for its device, its strides, or for the type that it was converted to,
/// where to() is known to return the tensor itself, where nothing can be
/// anywhere but on the CPU, and for code that only tests run.
std::vector<MetadataTransfer> metadataTransfers(Program &Program);

} // namespace torchtidy::model

#endif
