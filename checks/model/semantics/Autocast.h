// Autocast: what switches it, the weights that it keeps copies of, and what is
// in half precision when it is off again.
#ifndef TORCHTIDY_SEMANTICS_AUTOCAST_H
#define TORCHTIDY_SEMANTICS_AUTOCAST_H

#include "model/semantics/CallSite.h"
#include "torch/Autocast.h"

namespace torchtidy::model::autocast {

/// The call switches it, or empties its cache.
void change(Machine &M, const CallSite &Site);
/// is_autocast_enabled: a bool that says whether it is on (its Mode).
Denotation inForce(Machine &M);
/// A thread begins, in the place that keeps what is on in the one that waits
/// for it; and it ends.
void enterThread(Machine &M, PlaceId Saved);
void leaveThread(Machine &M, PlaceId Saved);

/// An operation computes with the weights among Operands.
void emitCasts(Machine &M, const clang::Expr *Site, torch::KeptCasts Kept,
               llvm::ArrayRef<const clang::Expr *> Operands);
/// Modules are run, whose bodies are LibTorch's: what they consist of has
/// weights, too.
void emitCastsOfLayers(Machine &M, const clang::Expr *Site,
                       const PlaceSet &Modules);

/// Of which scalar type is what a layer returns whose body is LibTorch's.
void describe(Machine &M, const CallSite &Site, const PlaceSet &Modules,
              Value &Result);

/// An operation, a layer or a loss gets what is in half precision, and refuses
/// it.
void emitUses(Machine &M, const clang::Expr *Site, const torch::Operation &Op,
              llvm::ArrayRef<const clang::Expr *> Operands);
void emitUsesOfLayer(Machine &M, const CallSite &Site);
/// A member of a tensor hands out its elements.
void emitRead(Machine &M, const CallSite &Site);

} // namespace torchtidy::model::autocast

#endif
