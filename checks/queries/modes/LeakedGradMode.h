// Where grad mode may be off though nobody has meant it to be.
#ifndef TORCHTIDY_QUERIES_MODES_LEAKEDGRADMODE_H
#define TORCHTIDY_QUERIES_MODES_LEAKEDGRADMODE_H

#include "model/execution/Execution.h"

namespace torchtidy::model {

/// Grad mode may be on at E, and off only because a function that switches it
/// off for a stretch of its own, and on again behind it, has a way out between
/// the two (torch-grad-mode-not-restored). What is meant to be recorded, or
/// lacks a guard, is what it would be without that mistake.
bool isOffByLeak(const Execution &Entry, const Event &E);

} // namespace torchtidy::model

#endif
