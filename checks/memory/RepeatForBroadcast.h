// Query: tensors that repeat() copies along dimensions which the operations
// behind it would stretch without a copy.
#ifndef TORCHTIDY_MEMORY_REPEATFORBROADCAST_H
#define TORCHTIDY_MEMORY_REPEATFORBROADCAST_H

#include "model/execution/Program.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/SmallVector.h"

namespace torchtidy::model {

struct RepeatForBroadcast {
  const Execution *Entry = nullptr;
  const RearrangeEvent *Event = nullptr;
  const clang::CXXMemberCallExpr *Call = nullptr;
  /// An operation that broadcasts.
  const clang::CallExpr *User = nullptr;
  /// What expand() is to be given, a number for each dimension: what is
  /// written, or null for -1. Empty where that is not certain.
  llvm::SmallVector<const clang::Expr *, 4> Expanded;
};

/// Nothing is reported where a dimension that is repeated may have another size
/// than one, where anything but broadcasting operations takes the result, where
/// the result or the tensor is written afterwards, where the code shows that
/// the result is small, and for code that only tests run.
std::vector<RepeatForBroadcast> repeatsForBroadcast(Program &Program);

} // namespace torchtidy::model

#endif
