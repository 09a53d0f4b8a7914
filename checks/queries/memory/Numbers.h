// Integers that the code says: constants, and what keeps one.
#ifndef TORCHTIDY_QUERIES_MEMORY_NUMBERS_H
#define TORCHTIDY_QUERIES_MEMORY_NUMBERS_H

#include "model/execution/Execution.h"

namespace torchtidy::model {

/// What E, evaluated in F, stands for: the argument of a known caller, or the
/// initializer of a variable that keeps it. F becomes where that is written.
const clang::Expr *resolveNumber(const clang::Expr *E, const Frame *&F);

/// The value of E. Nothing where it is no constant, nor what stands for one.
std::optional<int64_t> knownNumber(const Execution &Entry, const clang::Expr *E,
                                   const Frame *F);
/// The same, or the most that it can be: std::min(n, 5).
std::optional<int64_t> mostNumber(const Execution &Entry, const clang::Expr *E,
                                  const Frame *F);

} // namespace torchtidy::model

#endif
