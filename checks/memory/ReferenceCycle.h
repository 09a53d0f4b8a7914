// Query: objects that keep themselves alive, by what they hold.
#ifndef TORCHTIDY_MEMORY_REFERENCECYCLE_H
#define TORCHTIDY_MEMORY_REFERENCECYCLE_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// What is given to an object, or to a part of it, has a copy of a pointer to
/// the object, or is one.
struct ReferenceCycle {
  enum Kind {
    /// A hook of a tensor, which has captured the tensor, or the module that
    /// has it.
    Hook,
    /// A function that a member holds has captured the object around it.
    Callback,
    /// A part has a shared pointer to the whole.
    Part,
  } Of = Hook;
  /// Where it is given, in whose code.
  const clang::CallExpr *Site = nullptr;
  /// The variable that is captured or handed on; null for this.
  const clang::ValueDecl *Owner = nullptr;
  /// It is the tensor itself.
  bool IsTensor = false;
  /// The place in the lambda, or the argument.
  clang::SourceLocation Captured;
  /// The member that holds it; null for a hook.
  const clang::FieldDecl *Member = nullptr;
  /// What makes the object, where that is known.
  const clang::Expr *Maker = nullptr;
};

/// Reported is what is certain from what is written in one function: the path
/// to what gets it begins with what it has, and each member on the path owns
/// the next. Nothing is where any code of the file lets go of one of these
/// members or gives it something else, where code of other files reaches them,
/// where a hook's handle is used or hooks are removed, and where the object
/// lives as long as the program.
std::vector<ReferenceCycle> findReferenceCycles(Program &Program);

} // namespace torchtidy::model

#endif
