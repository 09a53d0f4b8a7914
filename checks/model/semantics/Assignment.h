// Assignments: a variable, a member, an element or a view gets something else.
#ifndef TORCHTIDY_SEMANTICS_ASSIGNMENT_H
#define TORCHTIDY_SEMANTICS_ASSIGNMENT_H

#include "model/machine/Machine.h"

namespace torchtidy::model {

/// To = From, at Site.
void assign(Machine &M, const clang::Expr *Site, const clang::Expr *To,
            const clang::Expr *From);

} // namespace torchtidy::model

#endif
