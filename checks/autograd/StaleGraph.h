// Query: weights that a graph has saved, changed before the backward() through
// it.
#ifndef TORCHTIDY_AUTOGRAD_STALEGRAPH_H
#define TORCHTIDY_AUTOGRAD_STALEGRAPH_H

#include "model/execution/Program.h"
#include "queries/graphs/SpoiledGraphs.h"

namespace torchtidy::model {

/// A backward() through a graph whose weights are others by now.
struct StaleUse : SpoiledGraph {
  enum Kind {
    /// The weights have another version.
    Throws,
    /// step() has written past their versions (SGD): gradients are those of no
    /// network.
    Silent,
    /// The class of the optimizer is not known: one of these.
    Either,
  } Outcome = Either;
};

/// Nothing is reported where the graph may not need the weights, or where it is
/// not known that the optimizer trains them. One for each backward().
std::vector<StaleUse> staleUses(Program &Program);

} // namespace torchtidy::model

#endif
