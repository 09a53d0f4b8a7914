// Query: tensors that are copied into another layout for nothing, or again and
// again, and layouts that meet in every iteration of a loop.
#ifndef TORCHTIDY_MEMORY_NONCONTIGUOUSOPERAND_H
#define TORCHTIDY_MEMORY_NONCONTIGUOUSOPERAND_H

#include "model/execution/Program.h"
#include "clang/AST/ExprCXX.h"

namespace torchtidy::model {

struct NoncontiguousOperand {
  const Execution *Entry = nullptr;
  /// RearrangeEvent, or MixEvent.
  const Event *At = nullptr;
  enum Kind {
    /// Element by element it is as fast without contiguous().
    Needless,
    /// The same tensor is made contiguous in every iteration.
    Again,
    /// A tensor that stays the same is transposed, and meets one that is not.
    Mixed,
  } How = Needless;
  /// What contiguous() is called on, or the transposed operand.
  const clang::Expr *Operand = nullptr;
  /// Null where it is needless.
  const flow::Loop *Around = nullptr;
  /// The variable that is declared with contiguous(), or null.
  const clang::VarDecl *Variable = nullptr;
  bool CanMove = false;
};

/// Nothing is reported of layouts that are not known, of tensors that change in
/// the loop, that a branch needs, whose gradient is wanted, or that the code
/// shows to be small; nor of a copy that anything but elementwise operations
/// uses, once; nor for code that only tests run.
std::vector<NoncontiguousOperand> noncontiguousOperands(Program &Program);

} // namespace torchtidy::model

#endif
