// Autograd graphs that stay alive: how many at once, whether anything ran them,
// and what holds them.
#ifndef TORCHTIDY_CONFIRM_RULES_KEPTGRAPHS_H
#define TORCHTIDY_CONFIRM_RULES_KEPTGRAPHS_H

#include "rules/Places.h"

namespace torchtidy::confirm {

/// The site of a path whose graphs were kept the longest.
struct Kept {
  const CallPath *Path = nullptr;
  const Site *Builder = nullptr;
  /// So many iterations' graphs were alive at once.
  double Graphs = 0;
};

/// Of paths on which graphs are recorded.
Kept longestKept(const std::vector<CallPath> &Paths);

/// Only the paths on which graphs are recorded: others run under a guard.
std::vector<CallPath> recording(std::vector<CallPath> Paths);

/// Nodes of a path that no backward ran, that further ones run again, or that
/// stayed when it had; of all.
double shareForNothing(const CallPath &Path);

/// How many iterations a unit has at whose end no graph is left.
double iterationsOfUnit(const Kept &Most);

enum class Holder { Itself, Another, NotKnown };

/// What holds the graphs that a path makes: tensors that it makes, or the chain
/// of its own results; or something that only leads to them.
Holder holderOf(const CallPath &Path);

/// Whether tensors hold as many graphs in the loop, or where none is known in
/// the function: what a statement without operations has stored may be a result
/// of what the path has built.
bool areHeldByTensors(const Places &Where, const Kept &Most);

/// The line whose tensors or chains hold the most nodes, of what has a caller
/// in common with the path: "line 82"; "something else" where there is none.
std::string otherHolder(const Recording &Run, const CallPath &Than);

} // namespace torchtidy::confirm

#endif
