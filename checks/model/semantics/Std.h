// The standard library, and LibTorch's own containers and pointers, where
// tensors pass through: which family answers to which function.
#ifndef TORCHTIDY_SEMANTICS_STD_H
#define TORCHTIDY_SEMANTICS_STD_H

#include "model/semantics/CallSite.h"

namespace torchtidy::model {

Denotation stdCall(Machine &M, const CallSite &Site);

} // namespace torchtidy::model

#endif
