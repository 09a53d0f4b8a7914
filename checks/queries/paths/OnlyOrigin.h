// Whether an expression can be nothing but what one expression makes.
#ifndef TORCHTIDY_QUERIES_PATHS_ONLYORIGIN_H
#define TORCHTIDY_QUERIES_PATHS_ONLYORIGIN_H

#include "model/execution/Execution.h"

namespace torchtidy::model {

/// E, in In, is the handle that Made returns, whatever path has led there: by
/// variables and members that are set once, parameters, and functions with one
/// return. False where that cannot be seen.
bool isOnlyMadeBy(const Execution &Entry, const Frame *In, const clang::Expr *E,
                  const clang::Expr *Made);

} // namespace torchtidy::model

#endif
