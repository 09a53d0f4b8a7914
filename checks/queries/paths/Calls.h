// All calls of an execution, with or without an event.
#ifndef TORCHTIDY_QUERIES_PATHS_CALLS_H
#define TORCHTIDY_QUERIES_PATHS_CALLS_H

#include "model/execution/Execution.h"

namespace torchtidy::model {

/// A call, in an activation of the function that it is written in.
struct CallAt {
  const clang::CallExpr *Call = nullptr;
  const Frame *In = nullptr;
  /// A point of its segment: what is asked of loops holds for all of it.
  flow::Digraph::Node Point = 0;
};

/// In the order of the points. For queries about operations that leave no
/// event, such as reading a number.
std::vector<CallAt> callsOf(const Execution &Entry);

/// The variable or the member that E, or what E is a copy of, names; null for
/// others.
const clang::ValueDecl *named(const clang::Expr *E);
/// The same, but of members only those of this.
const clang::ValueDecl *namedHere(const clang::Expr *E);

/// A module is being made: this activation, or one that leads to it, is that of
/// its constructor.
bool isInModuleConstructor(const Frame *F);
/// The same, or in that of an element that emplace_back() adds to a container:
/// what is made there once are the first values of an object that stays.
bool makesFirstValues(const Frame *F);

/// The constructor of the object whose method is looked at is at work: its
/// activation is the only one that no call leads to.
bool isInOwnConstructor(const Frame *F);

} // namespace torchtidy::model

#endif
