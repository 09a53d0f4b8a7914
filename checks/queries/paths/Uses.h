// What takes a tensor that an expression makes, as the text says it: a variable
// that is declared with it, a call on it.
#ifndef TORCHTIDY_QUERIES_PATHS_USES_H
#define TORCHTIDY_QUERIES_PATHS_USES_H

#include "flow/ControlFlow.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace torchtidy::model {

/// The expression that takes the value of E, past what only passes it on.
const clang::Stmt *taker(const flow::ControlFlow &Flow, const clang::Expr *E);

/// The call of a member whose object E is, as x is of x.size(0); null where it
/// is none.
const clang::CXXMemberCallExpr *calledOn(const flow::ControlFlow &Flow,
                                         const clang::Expr *E);

/// The local variable that is declared with what Call returns, by value or as a
/// constant reference; null where it goes elsewhere.
const clang::VarDecl *declaredWith(const flow::ControlFlow &Flow,
                                   const clang::Expr *Call);

/// Where V is named in the function that declares it, in the order of the text.
llvm::SmallVector<const clang::DeclRefExpr *, 4>
mentionsOf(const flow::ControlFlow &Flow, const clang::VarDecl *V);

/// The text of the function has the name more often than mentionsOf() knows:
/// Clang has left out a statement that it could not make sense of. Nothing is
/// known then of what happens to V.
bool isNamedInLostCode(const flow::ControlFlow &Flow, const clang::VarDecl *V);

/// That, or an expression with an error in it names V or is what V is declared
/// with: what V holds may be something else than what is seen.
bool isNamedInErrors(const flow::ControlFlow &Flow, const clang::VarDecl *V);

/// isNamedInLostCode() of calls of backward().
bool hasLostBackward(const flow::ControlFlow &Flow);

/// The next statement that names V after its declaration stands in the same
/// block, and there it is the object of Call: with nothing in between, Call is
/// made on what V is declared with. Call's result takes the place of V, or V is
/// not named again.
bool isNextUse(const flow::ControlFlow &Flow, const clang::VarDecl *V,
               const clang::CXXMemberCallExpr *Call);

/// What the object of a call was made by, and the variable in between, or null.
struct Chained {
  const clang::Expr *Source = nullptr;
  const clang::VarDecl *Variable = nullptr;
};
/// a().call(), or a variable that is declared with a() and next used by the
/// call (isNextUse). Nothing where another variable is the object.
std::optional<Chained> chainedTo(const flow::ControlFlow &Flow,
                                 const clang::CXXMemberCallExpr *Call);

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
