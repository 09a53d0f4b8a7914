// Which constructors of the user's classes run: those that code of a library
// calls included.
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

/// The same of emplace_back(Arguments), where the elements are objects of a
/// class of the user's. Null where it is given one, of which it makes a copy.
const clang::CXXConstructorDecl *
constructorOfElement(clang::QualType Element,
                     llvm::ArrayRef<const clang::Expr *> Arguments);

/// The constructor that Construct runs: that of the module where a holder makes
/// one. Null where that leaves a choice, and for a holder that takes the module
/// it is given.
const clang::CXXConstructorDecl *
constructorRunBy(const clang::CXXConstructExpr *Construct);

/// The same of a variable that is an object; null for one that is none.
const clang::CXXConstructorDecl *constructorOf(const clang::VarDecl *V);

} // namespace torchtidy::model

#endif
