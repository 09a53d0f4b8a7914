// How an expression leads from a tensor to a part of it: t[i][j],
// t.select(0, i), row[j] of "auto row = t[i]", t[i].argmax().
#ifndef TORCHTIDY_QUERIES_LOOPS_ELEMENTPATH_H
#define TORCHTIDY_QUERIES_LOOPS_ELEMENTPATH_H

#include "queries/loops/LoopChanges.h"

namespace torchtidy::model {

/// An expression, in the activation that it is written in.
struct Written {
  const Frame *In = nullptr;
  const clang::Expr *E = nullptr;
};

struct ElementPath {
  /// What is indexed first: t.
  Written Tensor;
  /// What says which part, from the last to the first: j, i. None where no part
  /// is chosen.
  llvm::SmallVector<Written, 4> Indices;
  /// An operation computes with a part: t[i].argmax().
  bool IsComputed = false;
  /// An index says a range of positions.
  bool HasRange = false;
  /// The calls of LibTorch on the way.
  llvm::SmallVector<const clang::CallExpr *, 4> Calls;
};

/// The path to E. Variables of Within, the outermost loop that matters, and
/// parameters that a part is bound to are followed where it does not bind them
/// anew.
ElementPath elementPath(const Execution &Entry, const Frame *In,
                        const clang::Expr *E, LoopChanges &Changes,
                        const flow::Loop &Within);

/// The operation that makes what E holds in other tensors, through variables,
/// std::get and what keeps its elements; null where it is not known.
const clang::CallExpr *madeByOperation(const clang::Expr *E);

} // namespace torchtidy::model

#endif
