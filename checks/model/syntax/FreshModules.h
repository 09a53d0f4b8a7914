// Expressions that make a module, and what is in it. Part of the syntactic
// engine: see Variables.h.
#ifndef TORCHTIDY_SYNTAX_FRESHMODULES_H
#define TORCHTIDY_SYNTAX_FRESHMODULES_H

#include "clang/AST/DeclCXX.h"
#include "clang/AST/Expr.h"

namespace torchtidy::model {

/// Somewhere in S a module, a parameter or a buffer is registered, or something
/// is called that may do so.
bool mayRegister(const clang::Stmt *S);

/// A holder without a module, a tensor that is undefined.
bool isEmptyHandle(const clang::Expr *E);

/// E makes a module, and nothing else has a handle to it.
bool isFreshModule(const clang::Expr *E);

struct ModuleContent {
  bool HoldsParameters = false;
  /// Of the modules without parameters: dropout.
  bool DependsOnMode = false;

  void add(const ModuleContent &More) {
    HoldsParameters |= More.HoldsParameters;
    DependsOnMode |= More.DependsOnMode;
  }
};

/// What is put into a member, or what it is: the module with all that it is
/// made of.
ModuleContent contentOf(const clang::Expr *Member);
ModuleContent contentOf(const clang::CXXRecordDecl *Class);

} // namespace torchtidy::model

#endif
