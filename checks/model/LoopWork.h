// Queries about work that a loop repeats with the same result: tensors that it
// makes afresh, transfers that it does again.
#ifndef TORCHTIDY_MODEL_LOOPWORK_H
#define TORCHTIDY_MODEL_LOOPWORK_H

#include "model/Program.h"

namespace torchtidy::model {

/// A factory that makes a tensor of one shape in every iteration.
struct RepeatedAllocation {
  const Execution *Way;
  const Event *Allocate;
  const flow::Loop *Around;
  /// The name of the factory in LibTorch: "zeros".
  llvm::StringRef Factory;
  /// Nothing writes into it in the loop: every iteration makes the same.
  bool IsConstant;
  /// The variable that is declared with it, or null.
  const clang::VarDecl *Variable;
  /// The variable or member that it is assigned to, or null.
  const clang::Expr *AssignedTo;
  /// It is written in one function with the loop, with names from before it.
  bool CanMove;
};

/// Nothing is reported for tensors that leave the iteration (kept, returned,
/// given to code that cannot be seen, saved for a backward() that comes later),
/// whose shape or options change, that a branch makes, that are made from data,
/// or that are known to be small.
std::vector<RepeatedAllocation> repeatedAllocations(Program &Program);

/// A tensor that a loop moves or converts in every iteration.
struct RepeatedTransfer {
  const Execution *Way;
  const Event *Transfer;
  const flow::Loop *Around;
  enum Kind {
    /// The tensor does not change: it is copied to the device, or converted.
    Copies,
    Converts,
    /// The samples of a batch, each by itself, which are stacked afterwards.
    Samples,
  } How;
  /// The variable that is declared with the result, or null.
  const clang::VarDecl *Variable;
  bool CanMove;
};

/// Nothing is reported for tensors that change or are bound anew in the loop,
/// that are on the device already, whose gradient is wanted, that move with
/// their module (buffers), or that a branch transfers (a cache).
std::vector<RepeatedTransfer> repeatedTransfers(Program &Program);

} // namespace torchtidy::model

#endif
