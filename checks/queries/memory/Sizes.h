// How many elements a tensor has, where the code says it.
#ifndef TORCHTIDY_QUERIES_MEMORY_SIZES_H
#define TORCHTIDY_QUERIES_MEMORY_SIZES_H

#include "model/execution/Execution.h"
#include <vector>

namespace torchtidy::model {

/// To allocate, move or convert fewer cannot be told from the overhead of the
/// calls around it: docs/checks/torch-allocation-in-loop.md.
constexpr uint64_t SmallElements = 4096;
/// Of fewer, memory that an operation takes beside its result costs no time.
constexpr uint64_t FewestForMemory = 16384;
/// To fill or copy that many (1 MiB of floats) shows beside a pass of a
/// network.
constexpr uint64_t LargeElements = 262144;

/// One of the numbers of a shape, in the activation that it is written in.
struct WrittenSize {
  const clang::Expr *Number = nullptr;
  const Frame *In = nullptr;
};
/// The numbers that, multiplied, are the elements of what a factory makes.
/// Nothing where a shape comes from elsewhere: another tensor, a variable.
std::optional<std::vector<WrittenSize>>
writtenSizes(const clang::CallExpr *Factory, const Frame *In);

/// Of what a factory makes. Nothing where a number is not known: it is no
/// constant, nor a variable that keeps the constant which it is declared with.
std::optional<uint64_t> knownElements(const Execution &Entry,
                                      const AllocateEvent &Allocate);
/// One dimension is not known, and the others together have fewer than 64: a
/// row, as long as a batch or a list is. There are seldom thousands.
bool isRowOfUnknownLength(const Execution &Entry,
                          const AllocateEvent &Allocate);
/// The same by what is known of the shape of any tensor.
bool isRowOfUnknownLength(const Value &V);
/// V is memory of factories that make fewer elements than that, each of them.
bool isKnownBelow(const Execution &Entry, const Value &V, uint64_t Elements);
inline bool isKnownSmall(const Execution &Entry, const Value &V) {
  return isKnownBelow(Entry, V, SmallElements);
}
/// How many dimensions it has, where a list says the shape.
std::optional<unsigned> knownRank(const AllocateEvent &Allocate);

} // namespace torchtidy::model

#endif
