// Queries about forward passes whose graph nothing uses.
#ifndef TORCHTIDY_MODEL_EVALUATION_H
#define TORCHTIDY_MODEL_EVALUATION_H

#include "model/Execution.h"

namespace torchtidy::model {

/// A forward pass that autograd records though nothing of it is ever
/// backwarded, or, in a whole program, though no optimizer trains what the
/// gradients are of.
struct UnusedGraph {
  const Event *Forward;
  /// Where to speak: the call of the forward, or, where other callers do use
  /// the graph, the call that leads to it.
  const Frame *In;
  const clang::Stmt *Site;
  /// What shows that it is evaluation: a ModeChange, a Load or a Create of the
  /// module; the forward itself, when it is run on what was chosen from its own
  /// results; or a Backward beside it, which shows that grad mode is on; null
  /// when the program is known as a whole, or only Strict speaks.
  const Event *Evidence;
  /// Only a check that is asked to be strict should speak.
  bool IsStrictOnly;
  /// The largest block around Site in which nothing is trained: a guard may
  /// stand at its start. Null where there is none.
  const clang::CompoundStmt *GuardScope;
  /// A backward() goes through the graph, to parameters that no optimizer
  /// trains.
  bool IsBackwarded = false;
};

std::vector<UnusedGraph> unusedGraphs(const Execution &Way);

} // namespace torchtidy::model

#endif
