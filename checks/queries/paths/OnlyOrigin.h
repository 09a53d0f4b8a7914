// Whether an expression can be nothing but what one expression makes.
#ifndef TORCHTIDY_QUERIES_PATHS_ONLYORIGIN_H
#define TORCHTIDY_QUERIES_PATHS_ONLYORIGIN_H

#include "queries/paths/Calls.h"

namespace torchtidy::model {

/// E, in In, is the handle that Made returns, whatever path has led there: by
/// variables and members that are set once, parameters, and functions with one
/// return, and operations in place. False where that cannot be seen.
bool isOnlyMadeBy(const Execution &Entry, const Frame *In, const clang::Expr *E,
                  const clang::Expr *Made);

/// The operation that E can be nothing but the result of, in the same way: one
/// that makes a new tensor, no view.
std::optional<CallAt> onlyOperation(const Execution &Entry, const Frame *In,
                                    const clang::Expr *E);

} // namespace torchtidy::model

#endif
