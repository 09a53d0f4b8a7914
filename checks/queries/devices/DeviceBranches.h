// Branches that are taken or not for the sake of a device. The model joins what
// both sides of a branch leave; where a program asks twice, only some pairs of
// sides go together.
#ifndef TORCHTIDY_QUERIES_DEVICES_DEVICEBRANCHES_H
#define TORCHTIDY_QUERIES_DEVICES_DEVICEBRANCHES_H

#include "model/execution/Program.h"

namespace torchtidy::model {

class DeviceBranches {
public:
  explicit DeviceBranches(Code &User);

  /// Whether Site, in the activation In, is reached depends on what the program
  /// has chosen as its device, as far as a condition around it, before it, or
  /// around a call that leads to it shows that. A branch that moves a module
  /// itself is none: there it is known.
  bool decide(const clang::Stmt *Site, const Frame *In) const;
  /// Somewhere the program names a device that is not the CPU.
  bool namesOtherDevice() const { return NamesOther; }

private:
  bool tells(const clang::Expr *Condition) const;
  bool decidesIn(const clang::Stmt *Site, const flow::ControlFlow &Flow) const;

  /// Variables, members and functions that conditions for the sake of a device
  /// ask for.
  llvm::DenseSet<const clang::ValueDecl *> Asked;
  bool NamesOther = false;
};

/// A condition around Site, or around a call that leads to it, says that the
/// program works on the CPU there: if (device == torch::kCPU), the else of
/// if (x.is_cuda()).
bool isForCpu(const clang::Stmt *Site, const Frame *In);

} // namespace torchtidy::model

#endif
