// Whether code only reads a variable. Part of the syntactic engine: see
// Variables.h.
#ifndef TORCHTIDY_SYNTAX_READS_H
#define TORCHTIDY_SYNTAX_READS_H

#include "clang/AST/Decl.h"
#include "clang/AST/Stmt.h"

namespace torchtidy::model {

/// Every mention of V in S, lambdas included, only reads its value: it is not
/// assigned, bound to a reference or pointed to.
bool onlyReads(const clang::VarDecl *V, const clang::Stmt *S);

} // namespace torchtidy::model

#endif
