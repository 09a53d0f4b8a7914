// Which loops choose the element of a container that an expression names.
#ifndef TORCHTIDY_QUERIES_LOOPS_CHOSENELEMENT_H
#define TORCHTIDY_QUERIES_LOOPS_CHOSENELEMENT_H

#include "model/execution/Execution.h"

namespace torchtidy::model {

/// Of the loops around At, outermost first, those whose every iteration has
/// another element behind E, an expression of In: nets[i], *it, a loop's own
/// variable, a member of one, a parameter that is given one. None for nets[0],
/// and for nets[i % 2], which comes back.
llvm::SmallVector<const flow::Loop *, 4> choosingLoops(const Execution &Entry,
                                                       const Frame *In,
                                                       const clang::Expr *E,
                                                       flow::Digraph::Node At);

} // namespace torchtidy::model

#endif
