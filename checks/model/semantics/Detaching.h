// Detaching that a path-insensitive reading of stores would miss: loops over
// the elements of a container, which are one place to the machine, and
// conditions that ask whether there is anything to detach.
#ifndef TORCHTIDY_SEMANTICS_DETACHING_H
#define TORCHTIDY_SEMANTICS_DETACHING_H

#include "model/machine/Machine.h"

namespace torchtidy::model {

/// A loop begins: for (Tensor &h : states) h = h.detach();
void visitLoopStart(Machine &M, const clang::DeclStmt *Start,
                    const clang::Stmt *Loop);
/// The same by an algorithm: std::for_each(hs.begin(), hs.end(), ...).
void visitAlgorithm(Machine &M, const clang::CallExpr *Call);
/// Tensor &h = states[key]; h = h.detach(), h.detach_(): what is read through
/// this name until it names another element is what was detached. From: what is
/// assigned; null where it is detached in place.
void detachThroughReference(Machine &M, const clang::Expr *To,
                            const clang::Expr *From, const PlaceSet &Targets);
/// if (h.defined()) h = h.detach(): where the condition does not hold there is
/// nothing to detach. Not so for every k-th step.
void visitCondition(Machine &M, const clang::IfStmt *If);

} // namespace torchtidy::model

#endif
