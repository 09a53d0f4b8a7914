// What has the same value in every iteration of a loop.
#ifndef TORCHTIDY_QUERIES_LOOPS_LOOPINVARIANCE_H
#define TORCHTIDY_QUERIES_LOOPS_LOOPINVARIANCE_H

#include "queries/loops/LoopChanges.h"

namespace torchtidy::model {

/// Asks whether expressions have the same value in every iteration. What is not
/// understood is taken to change.
class Invariance {
public:
  explicit Invariance(const Execution &Entry) : Entry(Entry), Changes(Entry) {}

  /// E, evaluated in frame F, denotes the same number, device, options, or the
  /// same tensor, in every iteration of L. Of a tensor the identity is meant,
  /// not the content: see isWritten in queries/loops/Loops.h.
  bool isInvariant(const clang::Expr *E, const Frame *F, const flow::Loop &L);
  /// The same, and no tensor that E is computed from is written in L.
  bool hasSameContent(const clang::Expr *E, const Frame *F,
                      const flow::Loop &L);

  /// E is an element of what stays the same in L, chosen by the counter of an
  /// inner loop that does the same in every iteration of L: each element comes
  /// again, with the same content.
  bool isSameElementAgain(const clang::Expr *E, const Frame *F,
                          const flow::Loop &L);

  /// E leads to the same tensor in every iteration, not to one that an
  /// operation makes again of the same; or to one after the other of the same
  /// tensors, as the counter of an inner loop says.
  bool isSameObject(const clang::Expr *E, const Frame *F, const flow::Loop &L);

private:
  bool isSameCounter(const clang::VarDecl *V, const Frame *F,
                     const flow::Loop &L);
  bool isSameCallable(const Frame *F, const flow::Loop &L);
  bool isInvariantVariable(const clang::VarDecl *V, const Frame *F,
                           const flow::Loop &L);
  bool isInvariantCall(const clang::CallExpr *Call, const Frame *F,
                       const flow::Loop &L);
  bool isSameList(const clang::Stmt *Body, const Frame *Inside,
                  const flow::Loop &L);
  bool isContentWritten(const clang::ValueDecl *D, const flow::Loop &L) const;

  const Execution &Entry;
  LoopChanges Changes;
  unsigned Depth = 0;
  bool ContentMatters = false, CountersMatter = true, ObjectMatters = false;
};

} // namespace torchtidy::model

#endif
