// How often a loop runs, where the code says it.
#ifndef TORCHTIDY_QUERIES_TRIPCOUNT_H
#define TORCHTIDY_QUERIES_TRIPCOUNT_H

#include "model/execution/Execution.h"

namespace torchtidy::model {

/// The most iterations of L each time it is entered: it may be left before.
/// Of a for that counts in constant steps to a constant, of a range loop over
/// an array or a list. Nothing where that is not known.
std::optional<uint64_t> mostTrips(const Execution &Entry, const flow::Loop &L);

} // namespace torchtidy::model

#endif
