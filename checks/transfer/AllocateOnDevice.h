// Query: tensors that a factory makes on the CPU and that are moved at once.
#ifndef TORCHTIDY_TRANSFER_ALLOCATEONDEVICE_H
#define TORCHTIDY_TRANSFER_ALLOCATEONDEVICE_H

#include "model/execution/Program.h"
#include "clang/AST/ExprCXX.h"

namespace torchtidy::model {

struct HostAllocation {
  const Execution *Entry = nullptr;
  const TransferEvent *Transfer = nullptr;
  /// The factory's call, and the call that moves what it makes.
  const clang::CallExpr *Factory = nullptr;
  const clang::CXXMemberCallExpr *Moves = nullptr;
  /// The variable that is declared with it first, or null.
  const clang::VarDecl *Variable = nullptr;
  /// On the device its numbers are others.
  bool IsRandom = false;
  /// The innermost loop around it, or null.
  const flow::Loop *Around = nullptr;
  /// Nothing that is seen repeats it, so that it may be made once; or it stands
  /// beside passes of a network that nobody trains, and is not known to be
  /// large.
  bool IsStrictOnly = false;
  /// It is known to be small, or a loop beside it waits for the device in its
  /// iterations.
  bool IsMinor = false;
};

/// Nothing is reported where something happens to the tensor before it is
/// moved, where it is made of data of the host, is not known to lie on the CPU,
/// or goes to what is known to be the CPU; for what is made once by main or by
/// a constructor, is small and in no loop, or comes once before a loop that
/// trains; and for code that only tests run.
std::vector<HostAllocation> hostAllocations(Program &Program);

} // namespace torchtidy::model

#endif
