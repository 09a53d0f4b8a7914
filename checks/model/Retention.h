// Queries about tensors that keep their graph longer than it is of use.
#ifndef TORCHTIDY_MODEL_RETENTION_H
#define TORCHTIDY_MODEL_RETENTION_H

#include "model/Readership.h"

namespace torchtidy::model {

/// A store of a tensor with a graph into a place that outlives the iteration.
struct Retention {
  enum Kind {
    /// A container, or a chain of additions, holds more graphs each time.
    Grows,
    Chains,
    /// A member is overwritten: one graph more than needed.
    Overwrites,
  } How;
  const Event *Store;
  PlaceId Place;
  /// The loop whose iterations it outlives; null where callers make the loop.
  const flow::Loop *Around;
  /// The operation that built the graph, or null.
  const Origin *Built;
  /// backward() runs in the loop: what is kept is the host's graph of nodes,
  /// the saved tensors are free.
  bool IsBackwarded;
  /// Where the member is read without its history, when that is what shows that
  /// nothing needs it.
  const clang::Expr *Reader = nullptr;
};

/// Nothing is reported where the values are let go in the loop (cleared,
/// popped, reassigned, moved), where a backward() reads them back, where they
/// leave what is analysed, or where the loop neither runs a module nor calls
/// backward(). Where no loop is seen, only what Readers says of a member tells.
std::vector<Retention> retentions(const Execution &Way,
                                  const Readership &Readers);

} // namespace torchtidy::model

#endif
