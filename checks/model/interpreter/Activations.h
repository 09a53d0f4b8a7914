// Activations of functions: what parameters are bound to, and what ends with
// them.
#ifndef TORCHTIDY_INTERPRETER_ACTIVATIONS_H
#define TORCHTIDY_INTERPRETER_ACTIVATIONS_H

#include "model/machine/Machine.h"

namespace torchtidy::model {

void enter(Machine &M, const Frame *Callee);
void leave(Machine &M, const Frame *Callee);

} // namespace torchtidy::model

#endif
