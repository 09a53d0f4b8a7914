// Elements of a container that each iteration of a loop writes anew: the
// activations of a network's layers, one slot for each.
#ifndef TORCHTIDY_QUERIES_LOOPS_SLOTS_H
#define TORCHTIDY_QUERIES_LOOPS_SLOTS_H

#include "model/execution/Execution.h"

namespace torchtidy::model {

/// v[i] = x, where i counts a loop inside L from the same number each time: an
/// iteration of L overwrites the elements that the one before has written, so
/// that there are never more of them.
bool overwritesSlots(const Execution &Entry, const StoreEvent &Store,
                     const flow::Loop &L);

/// The same with v[i + 1] = f(v[i]): what is stored is computed from elements
/// that the same iteration of L has written, or from a first one that nothing
/// in L writes, and from none that the iteration before has left.
bool fillsSlotsInOrder(const Execution &Entry, const StoreEvent &Store,
                       const flow::Loop &L);

/// for (Tensor &x : v) x = f(x); v[i] = f(v[i]) in the loop L that counts i:
/// each iteration writes an element of its own, of which no other iteration of
/// L reads anything.
bool writesOwnElement(const Execution &Entry, const StoreEvent &Store,
                      const flow::Loop &L);

} // namespace torchtidy::model

#endif
