// Elements of the control flow: statements, and what is no call in expressions.
#ifndef TORCHTIDY_INTERPRETER_STATEMENTS_H
#define TORCHTIDY_INTERPRETER_STATEMENTS_H

#include "model/machine/Machine.h"
#include "clang/Analysis/CFG.h"

namespace torchtidy::model {

/// What a reference to E refers to: of a choice between an object and a value
/// both.
PlaceSet referents(Machine &M, const clang::Expr *E);

void visitElement(Machine &M, const clang::CFGElement &Element);

} // namespace torchtidy::model

#endif
