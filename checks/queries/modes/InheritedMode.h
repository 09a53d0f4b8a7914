// What shows which grad mode the callers of an entry have left.
#ifndef TORCHTIDY_QUERIES_MODES_INHERITEDMODE_H
#define TORCHTIDY_QUERIES_MODES_INHERITEDMODE_H

#include "model/execution/Execution.h"

namespace torchtidy::model {

/// A backward() through a graph that was recorded in the grad mode of the
/// callers, as it is at E, and that no path past E can avoid: were grad mode
/// off, it would throw. Null where there is none.
const BackwardEvent *backwardBeside(const Execution &Entry, const Event &E);

} // namespace torchtidy::model

#endif
