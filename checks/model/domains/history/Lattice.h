// Autograd history: whether there is a graph behind a value, and what the value
// was computed from.
#ifndef TORCHTIDY_DOMAINS_HISTORY_LATTICE_H
#define TORCHTIDY_DOMAINS_HISTORY_LATTICE_H

#include "model/base/Ids.h"
#include <cstdint>

namespace clang {
class Expr;
}

namespace torchtidy::model {

struct Frame;

/// Where a value came from.
struct Origin {
  enum Kind : uint8_t {
    /// A module was run.
    Forward,
    /// An operation on leaves: the first of its graph.
    Operation,
    /// The value was stored, and read again.
    Through,
    /// What a member or a global variable held when the entry was entered.
    Entry,
    /// What was read from a member of some object from outside.
    Member,
    /// A backward() has gone through the graph of the value.
    Backwarded,
  } Of;
  const Frame *In;
  /// Null for Entry and Member.
  const clang::Expr *Site;
  /// For Entry and Member.
  PlaceId Place;

  /// It is what built a graph.
  bool isBuilder() const { return Of == Forward || Of == Operation; }
};

/// A set of possibilities: what the histories of a tensor can be on the paths
/// that lead here. Empty: no tensor.
namespace history {
enum : uint8_t {
  /// No graph, needs no gradient.
  None = 1,
  /// Needs a gradient, made by no operation: a parameter.
  Leaf = 2,
  /// The result of operations that autograd recorded.
  Graph = 4,
  /// From outside what was analysed.
  Unknown = 8,
};
} // namespace history

struct AutogradHistory {
  uint8_t History = 0;
  /// Of the tensor whose storage it shares: the histories that it can have.
  /// None: of no other. Unknown: perhaps of no other.
  uint8_t BaseHistory = 0;
  /// More origins than are kept, or code that was not understood: assume any.
  bool ManyOrigins = false;
  /// The forward passes, operations and stores that the value was computed
  /// from.
  IdSet<struct OriginTag, 4> Origins;
  /// The forward passes whose results decided what it is without a gradient: an
  /// index of max() or argmax(), a sample, the number of an item().
  OriginSet DecidedBy;
  /// The allocations that the graph behind it may have saved for backward().
  AllocationSet Saved;

  /// A network of 200 residual blocks makes as many passes.
  static constexpr unsigned MaxOrigins = 1024;

  bool addOrigin(OriginId Origin);
  bool hasOrigin(OriginId Origin) const;
  /// There are more than are kept.
  bool isFull() const { return ManyOrigins && Origins.size() >= MaxOrigins; }
  /// Computed from what From was computed from, too.
  void takeOrigins(const AutogradHistory &From) {
    for (OriginId Id : From.Origins)
      addOrigin(Id);
    ManyOrigins |= From.ManyOrigins;
  }
  bool mayHaveSaved(AllocationId Allocation) const {
    return llvm::is_contained(Saved, Allocation);
  }
  bool mayHaveGraph() const { return History & history::Graph; }
  bool needsGrad() const { return History & (history::Graph | history::Leaf); }
  bool mayHaveHistory() const {
    return History & (history::Graph | history::Unknown);
  }
  /// For certain a view of a leaf that needs a gradient.
  bool isViewOfLeaf() const {
    return History == history::Graph && BaseHistory == history::Leaf;
  }
  /// There is no graph behind it: it was computed from nothing.
  void forgetGraph() {
    Origins.clear();
    ManyOrigins = false;
    Saved.clear();
  }
  /// It is no tensor, and leads to none.
  void forgetHistory() {
    History = 0;
    BaseHistory = 0;
    forgetGraph();
  }
  void detach() {
    History = history::None;
    forgetGraph();
  }

  bool join(const AutogradHistory &Other);
  bool operator==(const AutogradHistory &Other) const;
};

} // namespace torchtidy::model

#endif
