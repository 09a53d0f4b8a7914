// Code that cannot be seen and that may set grad mode.
#ifndef TORCHTIDY_QUERIES_GRADMODESWITCHES_H
#define TORCHTIDY_QUERIES_GRADMODESWITCHES_H

#include "model/execution/Execution.h"

namespace torchtidy::model {

/// A function of the program that cannot be seen may set grad mode: where it is
/// not known which one it is, where it is told something about modes or
/// LibTorch, or nothing and gives nothing back. So may the constructor of a
/// class whose destructor cannot be seen either.
bool maySwitchGradMode(const Execution &Entry, const OpaqueEvent &E);

} // namespace torchtidy::model

#endif
