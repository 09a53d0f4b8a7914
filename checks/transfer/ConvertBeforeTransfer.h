// Query: tensors that are made wider on the host and moved to a device then.
#ifndef TORCHTIDY_TRANSFER_CONVERTBEFORETRANSFER_H
#define TORCHTIDY_TRANSFER_CONVERTBEFORETRANSFER_H

#include "model/execution/Program.h"
#include "clang/AST/ExprCXX.h"

namespace torchtidy::model {

struct WideTransfer {
  const Execution *Entry = nullptr;
  const TransferEvent *Convert = nullptr, *Move = nullptr;
  const clang::CXXMemberCallExpr *Converts = nullptr, *Moves = nullptr;
  /// The variable between the two, or null.
  const clang::VarDecl *Variable = nullptr;
  /// Something is computed of it between the two: x.to(kFloat).div(255).
  bool IsComputed = false;
  /// Bytes of an element before and after.
  unsigned Narrow = 0, Wide = 0;
};

/// Nothing is reported where the source is not known to lie on the CPU and to
/// be narrower, where the target is known to be the CPU, where the wider tensor
/// is used for anything but to compute with it and numbers what is moved, and
/// for code that only tests run.
std::vector<WideTransfer> wideTransfers(Program &Program);

} // namespace torchtidy::model

#endif
