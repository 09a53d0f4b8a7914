// Query: forward passes that run in a thread which the guard around them does
// not hold for.
#ifndef TORCHTIDY_QUERIES_GRAPHS_UNGUARDEDTHREADS_H
#define TORCHTIDY_QUERIES_GRAPHS_UNGUARDEDTHREADS_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// Grad mode is thread-local: a forward pass is recorded in a thread though a
/// guard holds grad mode off where the thread is started.
struct UnguardedThread {
  enum Shape {
    /// The thread that starts it has the guard.
    Started,
    /// The one that hands it a task has.
    Task,
    /// The one that calls at::parallel_for has, and its helpers do not.
    Spread,
    /// The guard is a static variable, which the first of several threads made.
    Static,
  } Is = Started;
  const Execution *Entry = nullptr;
  const ForwardEvent *Forward = nullptr;
  /// What holds grad mode off elsewhere.
  const GradModeChangeEvent *Guard = nullptr;
  /// The call or construction that starts the thread, or hands it the task.
  const clang::Stmt *Start = nullptr;
  /// Where to speak: the pass, or the call that leads to it, in the function
  /// that the thread was given to run.
  const Frame *In = nullptr;
  const clang::Stmt *Site = nullptr;
  /// A guard may stand at its start. Null where there is none, or nobody can
  /// tell that the module runs under a guard.
  const clang::CompoundStmt *GuardScope = nullptr;
};

/// Nothing is reported where the thread, or what it calls, sets grad mode
/// before the pass; where something may use the graph, also of what the thread
/// returns; where the result goes to code that cannot be seen, unless the
/// module is in eval mode; where the parameters may be frozen; where a task is
/// also handed out without a guard; and in a forward().
std::vector<UnguardedThread> unguardedThreads(Program &Program);

} // namespace torchtidy::model

#endif
