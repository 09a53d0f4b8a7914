// Query: whose step uses the gradients of a backward() that goes through two
// networks.
#ifndef TORCHTIDY_QUERIES_GRAPHS_TWONETWORKS_H
#define TORCHTIDY_QUERIES_GRAPHS_TWONETWORKS_H

#include "queries/paths/Paths.h"

namespace torchtidy::model {

/// A backward() that is meant for one network (Own) and goes on through the one
/// that has made its input (Theirs).
class TwoNetworks {
public:
  /// Own and Theirs: what the modules consist of; they have nothing in common.
  TwoNetworks(const Execution &Entry, const BackwardEvent &Backward,
              const PlaceSet &Own, const PlaceSet &Theirs);

  /// A step of the own network alone that uses the gradients; null where there
  /// is none.
  const StepEvent *ownStep() const;
  /// The other network is trained by itself, too.
  bool hasOtherOptimizer() const;
  /// Somebody reads the other's gradients, or may do anything with the network,
  /// before they are cleared.
  bool mayBeWanted() const;
  /// False where a step of the other network's may be meant to use the
  /// gradients. Spoiled: a step that uses them although they are not meant for
  /// it, where there is one.
  bool judge(const StepEvent *&Spoiled) const;

private:
  bool reaches(flow::Digraph::Node To, const Nodes &Avoid) const;
  bool mayTrain(const StepEvent &Step, const PlaceSet &Modules) const;
  bool trainsOnly(const StepEvent &Step, const PlaceSet &Modules,
                  const PlaceSet &NotThese) const;
  bool goesThrough(const BackwardEvent &Other, const PlaceSet &Modules) const;
  /// Each backward() of the other network's own: it goes through both, and its
  /// gradients are for the other.
  Nodes backwardsOfTheirs() const;
  Nodes ownSteps() const;

  const Execution &Entry;
  const BackwardEvent &Backward;
  const PlaceSet &Own, &Theirs;
  /// Where the gradients of the two are gone.
  Nodes Cleared, OwnCleared;
};

} // namespace torchtidy::model

#endif
