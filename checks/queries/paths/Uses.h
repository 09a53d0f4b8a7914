// What takes a tensor that an expression makes.
#ifndef TORCHTIDY_QUERIES_PATHS_USES_H
#define TORCHTIDY_QUERIES_PATHS_USES_H

#include "flow/ControlFlow.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace torchtidy::model {

/// The expression that takes the value of E, past what only passes it on.
const clang::Stmt *taker(const flow::ControlFlow &Flow, const clang::Expr *E);

/// A call that takes a tensor as an argument or as its object.
struct Use {
  const clang::CallExpr *Call;
  const clang::Expr *Operand;
  bool IsObject;
};

/// The calls that take what Made returns, at once or as the local variable that
/// is declared with it. Nothing where anything else gets it: a return, a list,
/// an assignment, a lambda.
std::optional<llvm::SmallVector<Use, 4>> usesOf(const flow::ControlFlow &Flow,
                                                const clang::Expr *Made);

/// The call asks the tensor for its shape or its type, and for no number in it.
bool asksForShape(const Use &U);

} // namespace torchtidy::model

#endif
