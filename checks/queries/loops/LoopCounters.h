// What goes on from one iteration of a loop to the next: its counter, its
// iterator, and what is computed from these.
#ifndef TORCHTIDY_QUERIES_LOOPS_LOOPCOUNTERS_H
#define TORCHTIDY_QUERIES_LOOPS_LOOPCOUNTERS_H

#include "model/execution/Execution.h"

namespace torchtidy::model {

class LoopCounters {
public:
  explicit LoopCounters(const Execution &Entry) : Entry(Entry) {}

  /// E, evaluated in F, is written with a counter of L: a variable that the
  /// loop statement counts up or goes through a range with, a local variable
  /// or a parameter that gets such a value. A state that each iteration sets
  /// from something else is none.
  bool follows(const clang::Expr *E, const Frame *F, const flow::Loop &L) {
    return follows(E, F, L, 0);
  }

private:
  using Variables = llvm::DenseSet<const clang::VarDecl *>;
  bool follows(const clang::Expr *E, const Frame *F, const flow::Loop &L,
               unsigned Depth);
  bool isFollower(const clang::ValueDecl *D, const Frame *F,
                  const flow::Loop &L, unsigned Depth);
  const Variables &countedBy(const flow::Loop &L);

  const Execution &Entry;
  llvm::DenseMap<const flow::Loop *, Variables> Counted;
};

} // namespace torchtidy::model

#endif
