// Query: loops that give the cached memory of a device back to the driver in
// every iteration.
#ifndef TORCHTIDY_MEMORY_EMPTYCACHEINLOOP_H
#define TORCHTIDY_MEMORY_EMPTYCACHEINLOOP_H

#include "model/execution/Program.h"

namespace torchtidy::model {

struct EmptiedCache {
  const Execution *Entry = nullptr;
  /// emptyCache(), or the call of a function of the user's that does nothing
  /// else.
  const clang::CallExpr *Call = nullptr;
  const Frame *In = nullptr;
  /// emptyCache() itself.
  const clang::CallExpr *Empties = nullptr;
  const flow::Loop *Around = nullptr;
};

/// Nothing is reported where not every iteration that computes empties the
/// cache (every so many, after an exception), where an inner loop does the
/// work, where an iteration makes, loads, moves or chooses a model, where the
/// loop is short, where it measures memory, and for code that only tests run.
std::vector<EmptiedCache> emptiedCaches(Program &Program);

} // namespace torchtidy::model

#endif
