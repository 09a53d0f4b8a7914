// Names of declarations, for those who look them up.
#ifndef TORCHTIDY_TORCH_NAMES_H
#define TORCHTIDY_TORCH_NAMES_H

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"

namespace torchtidy::torch {

/// Empty for null, and for what has no plain name: operators, constructors,
/// destructors, conversions.
inline llvm::StringRef nameOf(const clang::NamedDecl *D) {
  return D && D->getIdentifier() ? D->getName() : llvm::StringRef();
}

/// Of the function that is called directly; empty where E is no such call, or
/// null.
inline llvm::StringRef calleeName(const clang::Expr *E) {
  const auto *Call = llvm::dyn_cast_or_null<clang::CallExpr>(E);
  return nameOf(Call ? Call->getDirectCallee() : nullptr);
}

} // namespace torchtidy::torch

#endif
