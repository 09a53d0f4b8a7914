// Questions about loops: whether something runs in every iteration of one, can
// stand before it, is written in it. What an expression is in every iteration
// is asked of LoopInvariance.h, how long a place lives of Execution::outlives.
#ifndef TORCHTIDY_QUERIES_LOOPS_LOOPS_H
#define TORCHTIDY_QUERIES_LOOPS_LOOPS_H

#include "model/execution/Execution.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace torchtidy::model {

/// Training runs in a loop inside L: what is done once for each such loop (an
/// epoch) costs nothing.
bool isOuterLoop(const Execution &Entry, const flow::Loop &L);

/// L, or what it calls, goes backward.
bool goesBackward(const Execution &Entry, const flow::Loop &L);

/// L, or what it calls, runs a module or goes backward.
bool runsNetwork(const Execution &Entry, const flow::Loop &L);

/// A loop inside L goes backward or takes steps.
bool trainsInside(const Execution &Entry, const flow::Loop &L);

/// What is done once in each iteration of Around, or once in the whole entry
/// where that is null, is done once for a loop that trains there, or that runs
/// a network without a graph: beside these it costs nothing. A loop that runs
/// the layers of a network, or a cell over a sequence, is a pass itself.
bool isOutweighed(const Execution &Entry, const flow::Loop *Around);

/// Of a point: the outermost loop around it that runs no network stands beside
/// one that trains, or that runs a network without a graph, and puts what it
/// makes into a list: data, made before the work begins.
bool isPreparation(const Execution &Entry, flow::Digraph::Node Point);

/// Of an event: a loop around it runs a network, which nothing trains there or
/// after it, and it is no part of a forward(). The host waits there for what
/// the network says, and beside the pass a tensor that is made or copied is no
/// matter. Where a loop trains, the host runs ahead of the device, and each
/// copy stops it.
bool isBesidePasses(const Execution &Entry, const Event &E);

/// Of an event: it is part of a forward(), or of a loop that trains, or whose
/// passes a backward() after it goes back through.
bool isPartOfTraining(const Execution &Entry, const Event &E);

/// The statement runs in every iteration of L: no branch inside the loop
/// decides about it, but for an if whose condition Passes: one that comes out
/// the same in every iteration, for instance.
bool isUnconditional(
    const Execution &Entry, const clang::Stmt *S, const Frame *F,
    const flow::Loop &L,
    llvm::function_ref<bool(const clang::Expr *)> Passes = nullptr);

/// Holds in some iterations only: step % 100 == 0.
bool isOccasional(const clang::Expr *Condition);

/// E is written with variables of a scope around the loop statement only, so
/// that it can be moved there.
bool canMoveBefore(const clang::Expr *E, const clang::Stmt *LoopStatement,
                   const Frame *F);

/// Write happens in L, or through a pointer that was taken on a path to it.
bool mayHappenIn(const Execution &Entry, const WriteEvent &Write,
                 const flow::Loop &L);

/// Something in L may write into the tensor that is V and lies at Places: an
/// operation in place, an optimizer's step, code that cannot be seen. Writes
/// into the memory of Copy, which a transfer made, do not count.
bool isWritten(const Execution &Entry, const PlaceSet &Places, const Value &V,
               const flow::Loop &L,
               std::optional<AllocationId> Copy = std::nullopt);

} // namespace torchtidy::model

#endif
