// What operators about modes and the order of training ask of a program.
#ifndef TORCH_TIDY_MUTATION_ORDER_H
#define TORCH_TIDY_MUTATION_ORDER_H

#include "Program.h"

namespace torchtidy::mutation {

/// `loss.backward()` of a tensor; null of another statement.
const clang::CXXMemberCallExpr *backwardOf(const clang::Stmt *S);
/// `optimizer.step()`.
const clang::CXXMemberCallExpr *stepOf(const clang::Stmt *S);

/// Whether the statement, or a function of the user's that it calls, runs one
/// of these.
bool reaches(const Program &Whole, const clang::Stmt *S,
             const std::function<bool(const clang::Stmt *)> &Wanted);

/// Whether a loop around the statement, or around a call of its function,
/// trains.
bool isInTraining(const Program &Whole, const Function &In,
                  const clang::Stmt *S);

/// The full statement that this expression is.
const clang::Stmt *fullStatement(const Function &In, const clang::Stmt *S);

} // namespace torchtidy::mutation

#endif
