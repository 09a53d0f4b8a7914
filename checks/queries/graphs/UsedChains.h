// What leads to passes whose graph is used: where no guard may stand.
#ifndef TORCHTIDY_QUERIES_GRAPHS_USEDCHAINS_H
#define TORCHTIDY_QUERIES_GRAPHS_USEDCHAINS_H

#include "model/execution/Execution.h"
#include <set>

namespace torchtidy::model {

/// The statements that lead to a forward pass whose graph is used, or to a
/// backward(), in any of the entries that were added: no guard may be around
/// them.
struct UsedChains {
  using Statements =
      std::set<std::pair<const clang::FunctionDecl *, const clang::Stmt *>>;

  std::set<const clang::Stmt *> Sites;
  /// The same, with the function that the statement is in.
  Statements Training;
  /// Those that lead to a pass under a guard: some caller brings it along.
  Statements Guarded;
  /// And those that lead to code that is not seen and may train
  /// (UnseenTraining.h): of what is likely to, and of what is not.
  Statements UnseenLikely, UnseenUnlikely;

  void add(const Execution &Entry);
  /// Some activation of the statement, which is in F, is under a guard.
  bool isGuarded(const Frame *F, const clang::Stmt *Site) const {
    return Guarded.count({F->Function, Site}) != 0;
  }
  /// Something in Within, which is in F, leads to such a pass, or to a
  /// backward().
  bool isTrained(const Frame *F, const clang::Stmt *Within) const;
  /// In this entry.
  static bool isUsed(const Execution &Entry, const ForwardEvent &Forward);

private:
  void add(const Event &E);
};

/// Grad mode is known to be off in it.
bool isWithoutGraph(const ForwardEvent &Forward);

/// The largest block around Site, in F, in which nothing is trained, as far as
/// is known: a guard may stand at its start. Only the innermost block may call
/// code that is not seen and gets what is trained, unless that code is likely
/// to train. Null where there is none.
const clang::CompoundStmt *guardScope(const UsedChains &Used, const Frame *F,
                                      const clang::Stmt *Site);

} // namespace torchtidy::model

#endif
