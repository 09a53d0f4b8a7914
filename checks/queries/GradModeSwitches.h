// Code that cannot be seen and that may set grad mode, and what shows which
// mode callers have left.
#ifndef TORCHTIDY_QUERIES_GRADMODESWITCHES_H
#define TORCHTIDY_QUERIES_GRADMODESWITCHES_H

#include "model/execution/Execution.h"

namespace torchtidy::model {

/// A function of the program that cannot be seen may set grad mode: where it is
/// not known which one it is, where it is told something about modes or
/// LibTorch, or nothing and gives nothing back. So may the constructor of a
/// class whose destructor cannot be seen either.
bool maySwitchGradMode(const Execution &Entry, const OpaqueEvent &E);

/// A backward() through a graph that was recorded in the grad mode of the
/// callers, as it is at E, and that no path past E can avoid: were grad mode
/// off, it would throw. Null where there is none.
const BackwardEvent *backwardBeside(const Execution &Entry, const Event &E);

} // namespace torchtidy::model

#endif
