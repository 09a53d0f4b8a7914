// The one walk over the statements and expressions below a statement.
//
// A walk goes depth first, a parent before its children, these in the order of
// Stmt::children(), which for most nodes is that of the source. It needs no
// recursion: expressions of any depth are fine. Children that are null (an else
// that is not there) are left out, and so is a root that is null.
//
// It goes through what Stmt::children() has, and no further:
// - of a DeclStmt the initializers of its variables, not the bodies of local
//   classes;
// - of an InitListExpr the form that stands in the tree, which is the semantic
//   one (with implicit initializers) wherever the types are known; the filler
//   of an array is not among them;
// - of default arguments and default member initializers nothing: their
//   expressions belong to the declaration (ast::strip() sees through them);
// - of a LambdaExpr the initializers of its captures, then its body: Lambdas
//   says which of these.
#ifndef TORCHTIDY_AST_WALK_H
#define TORCHTIDY_AST_WALK_H

#include "clang/AST/Stmt.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace torchtidy::ast {

/// What is looked at below a lambda. The lambda itself always is.
enum class Lambdas {
  /// Its captures and its body, as if it ran where it is written.
  Enter,
  /// What is evaluated where it is written: the initializers of its captures,
  /// for a plain [x] the reference to x. The body is a function of its own.
  Captures,
  /// Nothing.
  Skip,
};

/// Root, or something below it, for which Is holds.
bool anyStmt(const clang::Stmt *Root,
             llvm::function_ref<bool(const clang::Stmt *)> Is, Lambdas Into);

/// Calls Visit for Root and all that is below it.
void forEachStmt(const clang::Stmt *Root,
                 llvm::function_ref<void(const clang::Stmt *)> Visit,
                 Lambdas Into);

/// Where a walk goes after a statement.
enum class Next {
  /// To its children.
  Children,
  /// Past them.
  Past,
  /// Nowhere: the walk is over.
  Stop,
};

/// Calls Visit for Root and what is below it as far as Visit says. Around holds
/// the statements around, from Root to the parent.
void walk(const clang::Stmt *Root,
          llvm::function_ref<Next(const clang::Stmt *S,
                                  llvm::ArrayRef<const clang::Stmt *> Around)>
              Visit,
          Lambdas Into);

} // namespace torchtidy::ast

#endif
