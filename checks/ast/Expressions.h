// Parts of expressions, below what LibTorch means.
#ifndef TORCHTIDY_AST_EXPRESSIONS_H
#define TORCHTIDY_AST_EXPRESSIONS_H

#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace torchtidy::ast {

/// Sees through parentheses, casts that call nothing, temporaries and default
/// arguments.
const clang::Expr *strip(const clang::Expr *E);
/// The stripped value that a construction from one value is given; null for
/// whatever else E is.
const clang::Expr *madeFrom(const clang::Expr *E);
/// Strips, and sees through constructions from one value: copies, conversions
/// to torch::Scalar, std::function.
const clang::Expr *stripCopies(const clang::Expr *E);

/// The object of a call of a method or a member operator; null for others.
const clang::Expr *objectOf(const clang::CallExpr *Call);
/// x of x.exp() and of exp(x); null where there is none.
const clang::Expr *firstOperand(const clang::CallExpr *Call);
/// The arguments of a call that were written, without its object: member
/// operators and methods alike.
llvm::SmallVector<const clang::Expr *, 4>
argumentsOf(const clang::CallExpr *Call);

/// The elements of {a, b}, through what the list is converted to (ArrayRef,
/// vector); nothing where E is no list.
std::optional<llvm::SmallVector<const clang::Expr *, 4>>
listed(const clang::Expr *E);

/// The bool, or number, that is written at E; Default where E is null or a
/// default argument; nothing where it is not a constant.
std::optional<bool> boolAt(const clang::Expr *E, bool Default);

/// I of std::get<I>; nothing for others.
std::optional<unsigned> tupleIndex(const clang::FunctionDecl *Callee);

} // namespace torchtidy::ast

#endif
