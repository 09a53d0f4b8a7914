// Whether one point of an entry leads to another, with points barred.
#ifndef TORCHTIDY_QUERIES_PATHS_PATHS_H
#define TORCHTIDY_QUERIES_PATHS_PATHS_H

#include "model/execution/Execution.h"
#include "llvm/ADT/DenseSet.h"

namespace torchtidy::model {

using Nodes = llvm::DenseSet<flow::Digraph::Node>;

/// There is a path from From to To that meets no point of Avoid but To.
bool reaches(const Execution &Entry, flow::Digraph::Node From,
             flow::Digraph::Node To, const Nodes &Avoid);

} // namespace torchtidy::model

#endif
