// Numbers that grow from one iteration of a loop to the next: a counter, how
// much a tensor has that each iteration adds to, and what is computed from
// these.
#ifndef TORCHTIDY_QUERIES_LOOPS_LOOPGROWTH_H
#define TORCHTIDY_QUERIES_LOOPS_LOOPGROWTH_H

#include "queries/loops/LoopInvariance.h"
#include "queries/paths/Calls.h"

namespace torchtidy::model {

/// How a number changes with the iterations of a loop.
struct Growth {
  /// It is greater in each iteration; otherwise the same in all.
  bool Grows = false;
  /// By how much, and the most that it comes to, where that is known.
  std::optional<int64_t> Step, Most;
};

/// The product of two.
std::optional<Growth> multiply(const Growth &A, const Growth &B);

class LoopGrowth {
public:
  explicit LoopGrowth(const Execution &Entry)
      : Entry(Entry), Same(Entry), Calls(callsOf(Entry)) {}

  /// How E, evaluated in F, changes with the iterations of L. Nothing for what
  /// may become less, or is the same in some of them: i % 2, (i + 63) / 64,
  /// std::min(i, n).
  std::optional<Growth> of(const clang::Expr *E, const Frame *F,
                           const flow::Loop &L) {
    return of(E, F, L, 0);
  }

private:
  std::optional<Growth> of(const clang::Expr *E, const Frame *F,
                           const flow::Loop &L, unsigned Depth);
  std::optional<Growth> ofArithmetic(const clang::BinaryOperator *E,
                                     const Frame *F, const flow::Loop &L,
                                     unsigned Depth);
  std::optional<Growth> ofVariable(const clang::VarDecl *V, const Frame *F,
                                   const flow::Loop &L);
  bool goesUp(const clang::Expr *Counts, const clang::VarDecl *V,
              const Frame *F, const flow::Loop &L);
  std::optional<Growth> ofShape(const clang::CallExpr *Call, const Frame *F,
                                const flow::Loop &L);
  const clang::CallExpr *growingCat(const clang::ValueDecl *D,
                                    const flow::Loop &L);

  const Execution &Entry;
  Invariance Same;
  const std::vector<CallAt> Calls;
};

} // namespace torchtidy::model

#endif
