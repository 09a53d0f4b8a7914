// backward() through a graph that has saved a tensor which was changed since.
#ifndef TORCHTIDY_QUERIES_GRAPHS_SPOILEDGRAPHS_H
#define TORCHTIDY_QUERIES_GRAPHS_SPOILEDGRAPHS_H

#include "model/execution/Execution.h"

namespace torchtidy::model {

struct SpoiledGraph {
  const Execution *Entry = nullptr;
  /// What the graph has saved, and where that is changed.
  const Save *Saved = nullptr;
  const Overwrite *Change = nullptr;
  /// A backward(), or torch::autograd::grad().
  const GraphUseEvent *Use = nullptr;
};

/// All of them. Not where the graph is gone in any case, because a backward()
/// has gone through it and freed it, nor where a backward() is told which
/// inputs it is for and may not come to what was changed.
std::vector<SpoiledGraph> spoiledGraphs(const Execution &Entry);

/// The in-place operation or assignment writes this expression: y of y.add_(1),
/// of y[0] = x. Null for others.
const clang::Expr *writtenAt(const clang::Expr *Site);

} // namespace torchtidy::model

#endif
