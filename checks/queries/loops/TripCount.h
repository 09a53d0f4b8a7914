// How often a loop runs, where the code says it.
#ifndef TORCHTIDY_QUERIES_LOOPS_TRIPCOUNT_H
#define TORCHTIDY_QUERIES_LOOPS_TRIPCOUNT_H

#include "model/execution/Execution.h"

namespace torchtidy::model {

/// The most iterations of L each time it is entered: it may be left before.
/// Of a for that counts in constant steps to a constant, of a range loop over
/// an array or a list. Nothing where that is not known.
std::optional<uint64_t> mostTrips(const Execution &Entry, const flow::Loop &L);

/// It runs once for each object of a container of the standard library: a range
/// loop over one, i < names.size(), at != all.end(). Not of an array or a list,
/// whose elements are known, nor of numbers, which are data.
bool runsForObjects(const Execution &Entry, const flow::Loop &L);

/// What Counts, evaluated in In, adds to V: ++v, v += 2, v -= 1. Nothing where
/// it is something else, or not a known number.
std::optional<int64_t> stepOf(const Execution &Entry, const Frame *In,
                              const clang::Expr *Counts,
                              const clang::VarDecl *V);

} // namespace torchtidy::model

#endif
