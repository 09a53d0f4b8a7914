// What a call gives a function, and what the function gives back.
#ifndef TORCHTIDY_AST_CALLS_H
#define TORCHTIDY_AST_CALLS_H

#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace torchtidy::ast {

/// The parameter of \p Definition, the function that \p Call runs, that gets
/// the first written argument which \p Is holds for; null where none does.
const clang::ParmVarDecl *
parameterFor(const clang::CallExpr *Call, const clang::FunctionDecl *Definition,
             llvm::function_ref<bool(const clang::Expr *)> Is);

/// \p F has a return, and \p Is holds for what each of them returns. A return
/// without a value gives null. Those of lambdas are not its own.
bool allReturns(const clang::FunctionDecl *F,
                llvm::function_ref<bool(const clang::Expr *)> Is);

} // namespace torchtidy::ast

#endif
