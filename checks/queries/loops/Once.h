// Query: what happens once in the life of a program or of an object, and what
// again and again.
#ifndef TORCHTIDY_QUERIES_LOOPS_ONCE_H
#define TORCHTIDY_QUERIES_LOOPS_ONCE_H

#include "model/execution/Execution.h"

namespace torchtidy::model {

/// Once in the life of the program, or of an object: in no loop of main or of a
/// constructor, in the initializer of a static variable, where a condition asks
/// whether something is there yet, or where one asks a flag that is set there
/// and that nothing takes back: if (!ready) { ready = true; .. }.
bool happensOnce(const Execution &Entry, const Event &E);

/// An activation, or one that leads to it, is of a function that is called
/// again and again where no loop shows it: by a template of LibTorch
/// (forward(), get()), or the entry is a callback.
bool isCalledRepeatedly(const Frame &In);

} // namespace torchtidy::model

#endif
