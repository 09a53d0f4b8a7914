// What modules register: register_module, register_parameter, register_buffer,
// and members that get something else afterwards. Source:
// torch/csrc/api/include/torch/nn/module.h.
#ifndef TORCHTIDY_SEMANTICS_REGISTRATION_H
#define TORCHTIDY_SEMANTICS_REGISTRATION_H

#include "model/semantics/CallSite.h"

namespace torchtidy::model {
namespace registration {

/// New modules: nothing has registered them yet.
void markFresh(Machine &M, const PlaceSet &Modules);
Denotation registerModule(Machine &M, const CallSite &Site);
/// net = register_module("net", Sequential(..)), also as an initializer: what
/// is at Targets becomes that Sequential, with what is in it.
void keepContents(Machine &M, const clang::Expr *From, const PlaceSet &Targets);
/// A Sequential, or another container, gets the modules in the arguments at
/// Site, and registers each. Returns them.
PlaceSet registerContained(Machine &M, const clang::Expr *Site,
                           const PlaceSet &Containers,
                           llvm::ArrayRef<const clang::Expr *> Arguments);
Denotation registerParameter(Machine &M, const CallSite &Site);
Denotation registerBuffer(Machine &M, const CallSite &Site);
/// Whether Targets, which To denotes, are a registered member, and From, whose
/// value is V, is nothing that is registered. It is told; the member stays one
/// that is registered.
bool emitReplacement(Machine &M, const clang::Expr *Site, const clang::Expr *To,
                     const PlaceSet &Targets, const clang::Expr *From,
                     const Value &V);

/// A module goes to another device or type, and takes along what is registered.
/// A member that has been given another tensor (w = other.t()), which may train
/// what is registered elsewhere, stays: a ReplaceEvent at the assignment, at
/// the point of the move, whose Before is not registered.
void emitLeftBehind(Machine &M, const CallSite &Move);

} // namespace registration
} // namespace torchtidy::model

#endif
