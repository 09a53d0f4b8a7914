// Query: an operation whose tensors, or whose module, are on different devices.
#ifndef TORCHTIDY_TRANSFER_DEVICEMISMATCH_H
#define TORCHTIDY_TRANSFER_DEVICEMISMATCH_H

#include "model/execution/Program.h"

namespace torchtidy::model {

struct DeviceMismatch {
  const Execution *Entry = nullptr;
  /// Where the two meet: the outermost call that hands on the one that is on
  /// the CPU.
  const MeetEvent *Meeting = nullptr;
  /// The tensor to move, and where it is written: that of the meeting, or what
  /// a caller hands on to it. Null where the module is on the CPU.
  const clang::Expr *Tensor = nullptr;
  const clang::CallExpr *Site = nullptr;
  const Frame *In = nullptr;
  /// The variable or member that named the other device; null where it is a
  /// constant.
  const clang::ValueDecl *Device = nullptr;
  /// A name for it that can be written at the meeting: the variable, a
  /// parameter that it is passed as, a member. Null where there is none.
  const clang::ValueDecl *Nameable = nullptr;
  /// Where the same variable is handed on to other meetings.
  std::vector<const clang::Expr *> Again;
  /// A loop around the meeting uses the same tensor in each iteration: it is to
  /// be moved before the loop, and not in it.
  bool IsSameInLoop = false;
};

/// A tensor is on the CPU on all paths that lead there, and what it meets is
/// not, or is wherever a variable says that may name another device. Nothing is
/// reported where a branch that asks for the device decides whether control
/// comes there, nor of modules whose forward() is the user's and is not seen.
/// Where the tensor is a parameter, and the function has no name for the
/// device, the caller that has the tensor is to move it.
std::vector<DeviceMismatch> deviceMismatches(Program &Program);

} // namespace torchtidy::model

#endif
