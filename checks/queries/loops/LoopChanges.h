// What the code of a loop may change: variables and members that are assigned,
// counted up, or given away to be written.
#ifndef TORCHTIDY_QUERIES_LOOPS_LOOPCHANGES_H
#define TORCHTIDY_QUERIES_LOOPS_LOOPCHANGES_H

#include "model/execution/Execution.h"

namespace torchtidy::model {

/// What tensors hold is not looked at: that changes by events, see isWritten in
/// queries/loops/Loops.h.
class LoopChanges {
public:
  explicit LoopChanges(const Execution &Entry) : Entry(Entry) {}

  /// The code of L, or what it calls, may give D another value.
  bool isChanged(const clang::ValueDecl *D, const flow::Loop &L) {
    return changedIn(L).count(D);
  }

private:
  using Declarations = llvm::DenseSet<const clang::ValueDecl *>;
  using Functions = llvm::DenseSet<const clang::FunctionDecl *>;

  const Declarations &changedIn(const flow::Loop &L);
  void addChanges(const clang::Stmt *S, Declarations &Changed, Functions &Seen);
  void addChangesOf(const clang::FunctionDecl *Callee, Declarations &Changed,
                    Functions &Seen);

  const Execution &Entry;
  llvm::DenseMap<const flow::Loop *, Declarations> Changes;
};

} // namespace torchtidy::model

#endif
