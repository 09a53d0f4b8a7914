// Whether a program asks modules for what they have registered.
#ifndef TORCHTIDY_QUERIES_MODULES_REGISTRYUSE_H
#define TORCHTIDY_QUERIES_MODULES_REGISTRYUSE_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// Something in the program may read, move or save what modules have
/// registered. False only of a program (with a main) that is understood and
/// calls nothing of that kind, nor hands a module to code that is not seen:
/// fixed filters, whose weights are assigned and then used.
bool mayUseRegistered(Program &Program);

} // namespace torchtidy::model

#endif
