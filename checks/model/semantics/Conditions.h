// What a decided condition says: of the very value that it tests, and whether
// it can be so at all.
#ifndef TORCHTIDY_SEMANTICS_CONDITIONS_H
#define TORCHTIDY_SEMANTICS_CONDITIONS_H

#include "model/machine/Machine.h"

namespace torchtidy::model::conditions {

/// The bool that E is for certain: a literal, a parameter that the call gives
/// one and nobody writes, is_training() of a module whose mode is known, where
/// a tensor is, or which device another names, where both are known.
std::optional<bool> known(Machine &M, const clang::Expr *E);

/// F gives its parameter another value, or hands out its address.
bool isWritten(const clang::FunctionDecl *F,
               const clang::ParmVarDecl *Parameter);

/// E has been evaluated: keeps what known() is to be asked for when the
/// statement is over.
void keepOperands(Machine &M, const clang::Expr *E);

/// Condition is decided as Holds from here on: where it says that a tensor is
/// not there, or needs no gradient, that tensor has no history. False where it
/// cannot be so, and nothing comes here.
bool assume(Machine &M, const clang::Expr *Condition, bool Holds);

/// What an arm of c ? a : b denotes, which is chosen where c is Holds; nothing
/// where it never is.
std::optional<Denotation> arm(Machine &M, const clang::Expr *Condition,
                              bool Holds, const clang::Expr *Arm);

} // namespace torchtidy::model::conditions

#endif
