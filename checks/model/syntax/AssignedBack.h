// Whether a result that is dropped can be assigned to what it was made of.
#ifndef TORCHTIDY_SYNTAX_ASSIGNEDBACK_H
#define TORCHTIDY_SYNTAX_ASSIGNEDBACK_H

#include "flow/ControlFlow.h"
#include "clang/AST/ExprCXX.h"

namespace torchtidy::model {

/// x = x.to(device) can stand in place of the call: the result stands for
/// Subject, or can be made in place as well, and Subject, as it is written, can
/// be assigned to.
bool canBeAssigned(const flow::ControlFlow &Flow, const clang::CallExpr *Call,
                   const clang::Expr *Subject);

/// The result has another shape or order than what it is made of, as that of
/// x.permute({1, 0}).to(device) has.
bool reshapes(const clang::CallExpr *Call);

/// A condition around Call asks for a property of Subject:
/// if (x.dim() == 3) x.unsqueeze(0).
bool isAskedForShape(const flow::ControlFlow &Flow, const clang::CallExpr *Call,
                     const clang::Expr *Subject);

} // namespace torchtidy::model

#endif
