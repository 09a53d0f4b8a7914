// Calls that are not followed, and what they are told as. What such code may do
// with what it is given: Foreign.h.
#ifndef TORCHTIDY_SEMANTICS_OPAQUE_H
#define TORCHTIDY_SEMANTICS_OPAQUE_H

#include "model/semantics/CallSite.h"

namespace torchtidy::model {

/// Tells of a call, or a construction, that is not followed and is of other
/// code, or reads a clock.
void emitOpaque(Machine &M, const CallSite &Site);
void emitOpaque(Machine &M, const clang::CXXConstructExpr *Construct);

} // namespace torchtidy::model

#endif
