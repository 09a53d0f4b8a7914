// Tuples and pairs. Source: [tuple], [pairs] of the C++ standard.
#ifndef TORCHTIDY_SEMANTICS_TUPLES_H
#define TORCHTIDY_SEMANTICS_TUPLES_H

#include "model/semantics/CallSite.h"

namespace torchtidy::model {
namespace tuples {

/// make_tuple, make_pair, and tie, forward_as_tuple, whose parts are
/// references.
Denotation make(Machine &M, const CallSite &Site);
/// std::get; a smart pointer's get() as well, which has its name.
Denotation get(Machine &M, const CallSite &Site);
/// std::tie(a, b) = pair. Each variable is a store of its own.
void scatter(Machine &M, const clang::Expr *Site, const clang::CallExpr *Tie,
             const clang::Expr *From, const Denotation &Source);

} // namespace tuples
} // namespace torchtidy::model

#endif
