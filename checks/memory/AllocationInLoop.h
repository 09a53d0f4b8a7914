// Query: tensors of one shape that a loop makes again in every iteration.
#ifndef TORCHTIDY_MEMORY_ALLOCATIONINLOOP_H
#define TORCHTIDY_MEMORY_ALLOCATIONINLOOP_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// A factory that makes a tensor of one shape in every iteration.
struct RepeatedAllocation {
  const Execution *Entry = nullptr;
  const AllocateEvent *Allocate = nullptr;
  const flow::Loop *Around = nullptr;
  /// The name of the factory in LibTorch: "zeros".
  llvm::StringRef Factory;
  /// Nothing writes into it in the loop: every iteration makes the same.
  bool IsConstant = false;
  /// The same numbers of the host go to a device in each iteration that trains.
  bool IsUpload = false;
  /// The variable that is declared with it, or null.
  const clang::VarDecl *Variable = nullptr;
  /// The variable or member that it is assigned to, or null.
  const clang::Expr *AssignedTo = nullptr;
  /// What is saved may be small: its size is not known, or it stands beside
  /// passes of a network and is not large, or in a function that the loop
  /// calls, where nothing is trained; or it is a row whose length nothing says,
  /// in a loop that does not train.
  bool IsStrictOnly = false;
  /// It stands beside the passes of a network, or is a part of them, and is not
  /// known to be large.
  bool IsMinor = false;
  /// It is written in one function with the loop, with names from before it.
  bool CanMove = false;
};

/// Nothing is reported for tensors that leave the iteration (kept, returned,
/// given to code that cannot be seen, saved for a backward() that comes later),
/// whose shape or options change, that a branch makes, that are made from data
/// (but for a list of numbers that goes to a device), of random numbers, that
/// are known to be small, or that a loop inside the iteration works with; nor
/// for code that only tests run.
std::vector<RepeatedAllocation> repeatedAllocations(Program &Program);

} // namespace torchtidy::model

#endif
