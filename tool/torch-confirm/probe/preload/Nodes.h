#ifndef TORCHTIDY_CONFIRM_PROBE_NODES_H
#define TORCHTIDY_CONFIRM_PROBE_NODES_H

#include "Hooks.h"

namespace torchtidy::confirm::probe {

/// A backward begins, and gets the next number. Site: 0 for one that frees its
/// graph.
void backwardBegins(uint32_t Site);

/// A backward runs a torch::autograd::Node.
void nodeRuns(const void *Node);
/// A thread begins its first backward.
void threadRunsBackwards();
/// See ProbeSide.
void flowsInto(uint32_t From, uint64_t ThreadNumber, uint64_t Sequence);

/// Whether the hooks see nodes being made and deleted.
Binding nodesBinding();

/// For nodes that die without deleteNode. To be called once. \returns of how
/// many kinds of nodes.
uint32_t replaceDisposers();

// Around a fork.
void lockNodes();
void unlockNodes();
void resetNodeLocks();

} // namespace torchtidy::confirm::probe

#endif
