// Constructors of the user's classes that code of a library calls.
#ifndef TORCHTIDY_ICFG_CONSTRUCTORS_H
#define TORCHTIDY_ICFG_CONSTRUCTORS_H

#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/ArrayRef.h"

namespace torchtidy::model {

/// The constructor of the user's class that a function of a library hands
/// Arguments on to: by the number of its parameters, and by their types where
/// several have it. Null where that leaves a choice.
const clang::CXXConstructorDecl *
constructorFor(const clang::CXXRecordDecl *Record,
               llvm::ArrayRef<const clang::Expr *> Arguments);

/// The user's module that a holder makes when it is constructed, with the
/// holder's arguments; null for a holder of what is there already.
const clang::CXXRecordDecl *
madeByHolder(const clang::CXXConstructExpr *Construct);

} // namespace torchtidy::model

#endif
