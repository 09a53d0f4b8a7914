// Names of declarations, for those who look them up.
#ifndef TORCHTIDY_AST_NAMES_H
#define TORCHTIDY_AST_NAMES_H

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"

namespace torchtidy::ast {

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

/// The name of the outermost namespace around D: empty at global scope, and
/// where it has none.
inline llvm::StringRef outermostNamespace(const clang::Decl *D) {
  const clang::NamespaceDecl *Outermost = nullptr;
  for (const auto *C = D->getDeclContext(); C; C = C->getParent())
    if (const auto *N = llvm::dyn_cast<clang::NamespaceDecl>(C))
      Outermost = N;
  return nameOf(Outermost);
}

} // namespace torchtidy::ast

#endif
