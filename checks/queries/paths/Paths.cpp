#include "queries/paths/Paths.h"

namespace torchtidy::model {

using Node = flow::Digraph::Node;

bool reaches(const Execution &Entry, Node From, Node To, const Nodes &Avoid) {
  return flow::mayReach(
             Entry.points(), From, [&](Node N) { return N == To; },
             [&](Node N) { return N != To && Avoid.count(N) != 0; })
      .has_value();
}

} // namespace torchtidy::model
