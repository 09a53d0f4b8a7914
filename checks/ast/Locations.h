// Where an expression begins and ends, as it is written. CallExpr has functions
// of its own for it, which since LLVM 21 do not know of operators: asked of a
// CallExpr, 'x + y' begins at '+'. So a call is asked here.
#ifndef TORCHTIDY_AST_LOCATIONS_H
#define TORCHTIDY_AST_LOCATIONS_H

#include "clang/AST/Expr.h"

namespace torchtidy::ast {

inline clang::SourceLocation beginLoc(const clang::Expr *E) {
  return E->getBeginLoc();
}
inline clang::SourceLocation endLoc(const clang::Expr *E) {
  return E->getEndLoc();
}

} // namespace torchtidy::ast

#endif
