// Grad mode: NoGradGuard, InferenceMode, AutoGradMode, what has one as a base
// or a member, and GradMode::set_enabled. Source: torch/csrc/api/include/torch/
// utils.h, c10/core/InferenceMode.h, c10/core/GradMode.h,
// ATen/core/grad_mode.h.
#ifndef TORCHTIDY_SEMANTICS_GRADMODE_H
#define TORCHTIDY_SEMANTICS_GRADMODE_H

#include "model/semantics/CallSite.h"

namespace torchtidy::model {
namespace gradmode {

/// Objects of this kind set grad mode while they live.
bool isGuard(torch::TypeKind Kind);
/// F declares one in its body.
bool declaresGuard(const clang::FunctionDecl *F);

/// A guard of the class begins its life, however it is made.
void construct(Machine &M, const clang::Expr *Site,
               const clang::CXXRecordDecl *Class, PlaceId Guard,
               llvm::ArrayRef<const clang::Expr *> Arguments);
/// The guards at P, in it, and in what it owns on the heap (Owned), end: each
/// restores what it has found.
void destroy(Machine &M, PlaceId P, bool Owned);
/// main() begins: guards of namespace scope were made before, by its thread.
void enterProgram(Machine &M);
/// A thread begins, in the place that keeps the mode of the one that waits for
/// it; and it ends. OrStays: or the one that waits does the work itself.
void enterThread(Machine &M, PlaceId Saved, bool OrStays);
void leaveThread(Machine &M, PlaceId Saved);

/// GradMode::set_enabled, with what it is given: a constant, what a caller
/// passes, or a bool that has kept the mode.
Denotation set(Machine &M, const CallSite &Site);
/// The mode that somebody asks for with a bool: what is written, what a caller
/// has passed, or the mode, also of a module, that was in force when it was
/// saved.
std::optional<uint8_t> asked(Machine &M, const clang::Expr *IsOn);
/// GradMode::is_enabled: a bool that says which mode is in force (its Mode).
Denotation inForce(Machine &M);

} // namespace gradmode
} // namespace torchtidy::model

#endif
