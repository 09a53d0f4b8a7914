// Query: tensors that a loop lets grow by concatenating them with themselves.
#ifndef TORCHTIDY_MEMORY_CATINLOOP_H
#define TORCHTIDY_MEMORY_CATINLOOP_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// r = torch::cat({r, x})
struct CatInLoop {
  const Execution *Entry = nullptr;
  const Frame *In = nullptr;
  const clang::CallExpr *Cat = nullptr;
  /// What grows, as it is written among the operands.
  const clang::Expr *Operand = nullptr;
  /// The innermost loop that the grown tensor survives an iteration of.
  const flow::Loop *Around = nullptr;
  /// Each iteration runs a network, beside which a copy is little.
  bool IsMinor = false;
  /// Others that let tensors grow in that loop.
  std::vector<const clang::CallExpr *> AsWell;
};

/// One for each loop, at the first of its calls.
/// Not reported where the loop reads the tensor besides (what is used whole in
/// each iteration has to be there), binds it to something else, or is known to
/// have few steps; nor where the tensor belongs to the iteration; nor in tests.
std::vector<CatInLoop> findCatInLoop(Program &Program);

} // namespace torchtidy::model

#endif
