// What does not change in a loop.
#ifndef TORCHTIDY_MODEL_INVARIANCE_H
#define TORCHTIDY_MODEL_INVARIANCE_H

#include "model/Execution.h"

namespace torchtidy::model {

/// Asks whether expressions have the same value in every iteration. What is not
/// understood is taken to change.
class Invariance {
public:
  explicit Invariance(const Execution &Way) : Way(Way) {}

  /// E, evaluated in frame F, denotes the same number, device, options, or the
  /// same tensor, in every iteration of L. Of a tensor the identity is meant,
  /// not the content: see isWritten.
  bool isInvariant(const clang::Expr *E, const Frame *F, const flow::Loop &L);
  /// The same, and no tensor that E is computed from is written in L.
  bool hasSameContent(const clang::Expr *E, const Frame *F,
                      const flow::Loop &L);

  /// Training runs in a loop inside L: what is done once for each such loop (an
  /// epoch) is of no cost.
  bool isOuterLoop(const flow::Loop &L) const;

  /// Something in L may write into the tensor that is V and lies at Places: an
  /// operation in place, an optimizer's step, code that cannot be seen. Writes
  /// into the copy that a transfer made (its Origin) do not count.
  bool isWritten(const PlaceSet &Places, const Value &V, const flow::Loop &L,
                 std::optional<OriginId> Copy = std::nullopt);

  /// The statement runs in every iteration of L: no branch inside the loop
  /// decides about it.
  bool isUnconditional(const clang::Stmt *S, const Frame *F,
                       const flow::Loop &L);

  /// E is written with variables of a scope around the loop statement only, so
  /// that it can be moved there.
  bool canMoveBefore(const clang::Expr *E, const clang::Stmt *LoopStatement,
                     const Frame *F);

private:
  using Declarations = llvm::DenseSet<const clang::ValueDecl *>;

  bool isInvariantVariable(const clang::VarDecl *V, const Frame *F,
                           const flow::Loop &L);
  bool isInvariantCall(const clang::CallExpr *Call, const Frame *F,
                       const flow::Loop &L);
  bool isChanged(const clang::ValueDecl *D, const flow::Loop &L) {
    return changedIn(L).count(D);
  }
  bool isContentWritten(const clang::ValueDecl *D, const flow::Loop &L) const;
  const Declarations &changedIn(const flow::Loop &L);
  void addChanges(const clang::Stmt *S, Declarations &Changed,
                  llvm::DenseSet<const clang::FunctionDecl *> &Seen);
  void addChangesOf(const clang::FunctionDecl *Callee, Declarations &Changed,
                    llvm::DenseSet<const clang::FunctionDecl *> &Seen);
  static void addTarget(const clang::Expr *E, Declarations &Changed);

  const Execution &Way;
  llvm::DenseMap<const flow::Loop *, Declarations> Changes;
  unsigned Depth = 0;
  bool ContentMatters = false;
};

} // namespace torchtidy::model

#endif
