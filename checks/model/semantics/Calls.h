// Which semantics a call has.
#ifndef TORCHTIDY_SEMANTICS_CALLS_H
#define TORCHTIDY_SEMANTICS_CALLS_H

#include "model/machine/Machine.h"

namespace torchtidy::model {

void visitCall(Machine &M, const clang::CallExpr *Call);
void visitConstruct(Machine &M, const clang::CXXConstructExpr *Construct);

} // namespace torchtidy::model

#endif
