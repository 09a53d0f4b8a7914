// How many elements a tensor has, where the code says it.
#ifndef TORCHTIDY_QUERIES_SIZES_H
#define TORCHTIDY_QUERIES_SIZES_H

#include "model/execution/Execution.h"

namespace torchtidy::model {

/// Of what a factory makes. Nothing where a number is not known: it is no
/// constant, nor a variable that keeps the constant which it is declared with.
std::optional<uint64_t> knownElements(const Execution &Entry,
                                      const AllocateEvent &Allocate);
/// How many dimensions it has, where a list says the shape.
std::optional<unsigned> knownRank(const AllocateEvent &Allocate);

} // namespace torchtidy::model

#endif
