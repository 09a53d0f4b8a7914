// Query: forward passes whose graph nothing uses.
#ifndef TORCHTIDY_QUERIES_GRAPHS_UNUSEDGRAPHS_H
#define TORCHTIDY_QUERIES_GRAPHS_UNUSEDGRAPHS_H

#include "queries/graphs/UsedChains.h"

namespace torchtidy::model {

/// A forward pass that autograd records though nothing of it is ever
/// backwarded.
struct UnusedGraph {
  const Execution *Entry = nullptr;
  const ForwardEvent *Forward = nullptr;
  /// Where to speak: the call of the forward, or, where other callers do use
  /// the graph, the call that leads to it.
  const Frame *In = nullptr;
  const clang::Stmt *Site = nullptr;
  /// What shows that it is evaluation: a ModeChange, a Load or a Create of the
  /// module; the forward itself, when it is run on what was chosen from its own
  /// results; or a Backward beside it, which shows that grad mode is on; null
  /// when the program is known as a whole, or only Strict speaks.
  const Event *Evidence = nullptr;
  /// Only a check that is asked to be strict should speak.
  bool IsStrictOnly = false;
  /// The largest block around Site in which nothing is trained: a guard may
  /// stand at its start. Null where there is none.
  const clang::CompoundStmt *GuardScope = nullptr;
  /// Where there is none: what the code around Site in which nothing is trained
  /// begins with, the statement before it that trains or the innermost block.
  /// The passes of one such stretch fit into one scope with a guard.
  const clang::Stmt *Stretch = nullptr;
  /// What the module does is in no C++ file: nobody can tell that it runs under
  /// a guard.
  bool IsUnseen = false;
};

/// The result leaves what is analysed: returned to callers elsewhere, kept in
/// an object from outside, given to code that cannot be seen.
bool leavesEntry(const Execution &Entry, const ForwardEvent &Forward);

/// Those of one entry. Nothing is reported where something may use the graph,
/// where grad mode may be off, and in a forward(), which is for others to run.
std::vector<UnusedGraph> unusedGraphs(const Execution &Entry,
                                      const UsedChains &Used);
/// Used: what this entry alone shows.
std::vector<UnusedGraph> unusedGraphs(const Execution &Entry);

} // namespace torchtidy::model

#endif
