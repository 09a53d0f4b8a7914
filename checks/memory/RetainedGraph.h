// Query: tensors that keep their graph longer than it is needed.
#ifndef TORCHTIDY_MEMORY_RETAINEDGRAPH_H
#define TORCHTIDY_MEMORY_RETAINEDGRAPH_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// A store of a tensor with a graph into a place that outlives the iteration.
struct Retention {
  enum Kind {
    /// A container, or a chain of additions, holds more graphs each time.
    Grows,
    Chains,
    /// The place is overwritten: one graph more than needed.
    Overwrites,
  } How = Grows;
  const Execution *Entry = nullptr;
  const StoreEvent *Store = nullptr;
  PlaceId Place;
  /// The loop whose iterations it outlives; null where callers make the loop.
  const flow::Loop *Around = nullptr;
  /// The operation that built the graph, or null.
  const Origin *Built = nullptr;
  /// backward() runs in the loop: what is kept is the host's graph of nodes,
  /// the saved tensors are free.
  bool IsBackwarded = false;
  /// Chains: by an operation that is no sum, max(worst, loss).
  bool IsComputed = false;
  /// Overwrites: a backward() has freed what the graph had saved, its nodes are
  /// all that is kept.
  bool IsFreed = false;
  /// Where the member is read without its history, when that is what shows that
  /// nothing needs it.
  const clang::Expr *Reader = nullptr;
};

/// Nothing is reported where the values are let go in the loop (cleared,
/// popped, reassigned, moved), where a backward() reads them back, for this
/// caller or another of the same function, where they
/// leave what is analysed, or where the loop neither runs a module nor calls
/// backward(). Where no loop is seen, it is reported of a member that all code
/// of the file reads without its history.
std::vector<Retention> retentions(Program &Program);

} // namespace torchtidy::model

#endif
