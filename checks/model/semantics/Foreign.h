// Code that cannot be seen: a call of a function without a body here that is
// neither LibTorch's nor the standard library's, a recursive call, a call
// behind a bound. It may do anything with what it is given.
#ifndef TORCHTIDY_SEMANTICS_FOREIGN_H
#define TORCHTIDY_SEMANTICS_FOREIGN_H

#include "model/machine/Machine.h"

namespace torchtidy::model {

Denotation foreignCall(Machine &M, const clang::Expr *Call,
                       const clang::FunctionDecl *Callee,
                       const clang::Expr *Object,
                       llvm::ArrayRef<const clang::Expr *> Arguments);

} // namespace torchtidy::model

#endif
