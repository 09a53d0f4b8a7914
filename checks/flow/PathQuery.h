// Questions about paths of a graph: "is there a path from A to B that avoids C"
// (may) and "does every path from A meet B" (must).
#ifndef TORCHTIDY_FLOW_PATHQUERY_H
#define TORCHTIDY_FLOW_PATHQUERY_H

#include "flow/Digraph.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <vector>

namespace torchtidy::flow {

using NodePredicate = llvm::function_ref<bool(Digraph::Node)>;

/// A shortest path that leaves From, meets no node of Avoid, and ends in a node
/// of Target; without From, with the target. From itself is a target only when
/// the path comes back to it, so a cycle is a path from a node to itself. A
/// target that is also to be avoided counts as avoided.
std::optional<std::vector<Digraph::Node>> mayReach(const Digraph &Graph,
                                                   Digraph::Node From,
                                                   NodePredicate Target,
                                                   NodePredicate Avoid);

/// The same through a waypoint: from From to a node of Via, and on to a node of
/// Target. The whole path avoids Avoid.
std::optional<std::vector<Digraph::Node>>
mayReachVia(const Digraph &Graph, Digraph::Node From, NodePredicate Via,
            NodePredicate Target, NodePredicate Avoid);

/// Every path that leaves From meets Target before it meets Stop or ends. A
/// path that runs in a cycle for ever does not count.
bool mustReach(const Digraph &Graph, Digraph::Node From, NodePredicate Target,
               NodePredicate Stop);

} // namespace torchtidy::flow

#endif
