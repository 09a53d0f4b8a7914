// Functions of LibTorch that have no meaning of their own here: they read their
// arguments, keep nothing, and compute what they return from what they are
// given.
#ifndef TORCHTIDY_SEMANTICS_LIBRARY_H
#define TORCHTIDY_SEMANTICS_LIBRARY_H

#include "model/semantics/CallSite.h"

namespace torchtidy::model {

Denotation libraryCall(Machine &M, const CallSite &Site);

} // namespace torchtidy::model

#endif
