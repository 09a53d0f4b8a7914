// Where the value of an expression goes.
#ifndef TORCH_TIDY_MUTATION_STORES_H
#define TORCH_TIDY_MUTATION_STORES_H

#include "Program.h"

namespace torchtidy::mutation {

struct Store {
  enum Kind { Append, Assign, Return } How;
  /// The expression that stores.
  const clang::Stmt *By;
  /// The variable or field stored into; none of a return.
  const clang::ValueDecl *Place = nullptr;
  const clang::Expr *Target = nullptr;
};

/// The store that the value ends up in: directly, through arithmetic, tuples
/// and methods of the tensor, or through one local variable.
std::optional<Store> storeOf(const Program &Whole, const Function &In,
                             const clang::Expr *Value,
                             bool ThroughLocals = true);

/// Whether the place lives longer than an iteration (or a call) of the
/// statement.
bool outlivesIteration(const Function &In, const clang::Expr *Target,
                       const clang::ValueDecl *Place, const clang::Stmt *At);

} // namespace torchtidy::mutation

#endif
