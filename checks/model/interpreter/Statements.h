// Elements of the control flow: statements, and what is no call in expressions.
#ifndef TORCHTIDY_INTERPRETER_STATEMENTS_H
#define TORCHTIDY_INTERPRETER_STATEMENTS_H

#include "model/machine/Machine.h"
#include "clang/Analysis/CFG.h"

namespace torchtidy::model {

void visitElement(Machine &M, const clang::CFGElement &Element);

} // namespace torchtidy::model

#endif
