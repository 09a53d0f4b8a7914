// Query: tensors that a graph has saved, changed in place before the backward()
// that needs them.
#ifndef TORCHTIDY_AUTOGRAD_INPLACESAVED_H
#define TORCHTIDY_AUTOGRAD_INPLACESAVED_H

#include "model/execution/Program.h"
#include "queries/graphs/SpoiledGraphs.h"

namespace torchtidy::model {

/// An in-place operation on what the graph of a later backward() has saved: the
/// backward() throws.
struct SavedWrite : SpoiledGraph {
  /// The tensor as it is written at the site; null where it is not.
  const clang::Expr *Target = nullptr;
};

/// Nothing is reported where the graph may not have been recorded, where the
/// tensor may be another one or may not be saved, and where it is a leaf that
/// needs a gradient. One for each place that writes.
std::vector<SavedWrite> savedWrites(Program &Program);

} // namespace torchtidy::model

#endif
