// Where the host itself reads the memory of a tensor: through a pointer or an
// accessor, which ends the program where the tensor lies on a device. Follows
// the tensor through the text: what is computed from it, variables, parameters,
// results.
#ifndef TORCHTIDY_QUERIES_DEVICES_HOSTMEMORY_H
#define TORCHTIDY_QUERIES_DEVICES_HOSTMEMORY_H

#include "model/execution/Program.h"
#include "llvm/ADT/DenseSet.h"

namespace torchtidy::model {

class HostMemory {
public:
  explicit HostMemory(Program &User);

  /// The transfer asks for a device that is not known to be the CPU.
  bool mayLeaveHost(const clang::CallExpr *Transfer) const {
    return Leaving.contains(Transfer);
  }
  /// The call that hands out a pointer or an accessor to the memory of what D,
  /// a variable of the function of Flow, holds behind the statement Behind, or
  /// of what is computed from it without being moved on the way. Null where
  /// none is seen: members, containers and other files are not followed.
  const clang::CallExpr *readOf(const clang::VarDecl *D,
                                const flow::ControlFlow &Flow,
                                const clang::Stmt *Behind);

private:
  /// A function that is looked at, and the call that has led there.
  struct Context {
    const flow::ControlFlow *Flow = nullptr;
    const Context *Caller = nullptr;
    const clang::CallExpr *Site = nullptr;
  };

  const clang::CallExpr *follow(const clang::Expr *E, const Context &In);
  const clang::CallExpr *followCall(const clang::Expr *Child,
                                    const clang::CallExpr *Call,
                                    const Context &In);
  const clang::CallExpr *intoUsers(const clang::Expr *Child,
                                   const clang::CallExpr *Call,
                                   const Context &In);
  const clang::CallExpr *keptIn(const clang::VarDecl *D, const Context &In,
                                const clang::Stmt *Behind);
  bool mayMove(const clang::CallExpr *Call) const;

  Code &All;
  llvm::DenseSet<const clang::Stmt *> Leaving, Staying;
  llvm::DenseSet<const clang::VarDecl *> Seen;
};

} // namespace torchtidy::model

#endif
