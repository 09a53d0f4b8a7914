// Conditions that decide about one event and not about another.
#ifndef TORCHTIDY_QUERIES_MODES_DECIDERS_H
#define TORCHTIDY_QUERIES_MODES_DECIDERS_H

#include "model/execution/Execution.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace torchtidy::model {

/// What is written in F and leads to the event: its site, or a call; null where
/// nothing does.
const clang::Stmt *statementIn(const Frame *F, const Event &E);

/// Where the control flow turns to Of or away from it, in statements that are
/// not around Beside as well. A comparison of floating-point numbers decides
/// nothing: who wrote it has not asked what was set before.
llvm::DenseSet<flow::Digraph::Node>
decidersOf(const Execution &Entry, const Event &Of, const Event &Beside);

/// S, in F, is under a condition, or in a try, that is not around Beside as
/// well: it may happen only when Beside does not. One that Passes does not
/// count.
bool isUnderOwnCondition(const clang::Stmt *S, const Frame *F,
                         const Event &Beside,
                         llvm::function_ref<bool(const clang::Expr *)> Passes);

} // namespace torchtidy::model

#endif
