// One way into the program, solved: its points, events, loops and states.
#ifndef TORCHTIDY_MODEL_EXECUTION_H
#define TORCHTIDY_MODEL_EXECUTION_H

#include "flow/PathQuery.h"
#include "model/Interpreter.h"
#include <set>

namespace torchtidy::model {

/// A point of the program: the start or the end of a segment, or an event.
struct Point {
  flow::Digraph::Node Segment = 0;
  /// Index of the event, or -1.
  int EventIndex = -1;
  bool IsEnd = false;
};

class Execution {
public:
  Execution(Code &Program, const clang::FunctionDecl *Root,
            bool IsThread = false);

  /// How many places are read, summed over all visits of all segments. About
  /// two seconds; found programs take a hundredth of it.
  static constexpr unsigned long MaxWork = 10'000'000;

  /// False when a bound was met: what may happen is then not all known, and
  /// findings are not drawn from it.
  bool isComplete() const { return Complete; }
  const Frame &root() const { return Graph.root(); }
  const Supergraph &graph() const { return Graph; }
  Code &code() const { return Program; }

  const flow::Digraph &points() const { return Points; }
  const Point &point(flow::Digraph::Node N) const { return PointInfo[N]; }
  const Segment &segment(flow::Digraph::Node N) const {
    return Graph.segment(PointInfo[N].Segment);
  }
  const flow::LoopForest &loops() const { return *Loops; }

  llvm::ArrayRef<Event> events() const { return Events; }
  const Event *eventAt(flow::Digraph::Node N) const {
    int Index = PointInfo[N].EventIndex;
    return Index < 0 ? nullptr : &Events[Index];
  }
  const PlaceTable &places() const { return Places; }
  const Origin &origin(OriginId Id) const { return Origins[Id]; }

  /// The scalar type of tensors of which nothing else is said may be another
  /// than float: torch::set_default_dtype.
  bool changesDefaultType() const { return DefaultTypeChanges; }
  /// Memory that something uses and does not own (Origin::Loan).
  llvm::ArrayRef<OriginId> loans() const { return Lent; }
  /// The memory of the owner P may live on when P is gone.
  bool isGivenUp(PlaceId P) const {
    return llvm::any_of(
        GivenUp, [&](PlaceId Whole) { return Places.isWithin(P, Whole); });
  }

  /// What P, with everything in it, holds when the way ends.
  Value heldAtEnd(PlaceId P) const;

  /// Frame F begins inside the loop: each iteration has an activation of its
  /// own.
  bool beginsIn(const Frame *F, const flow::Loop &L) const;
  /// The object at P lives on when an iteration of L is over. Nothing when that
  /// cannot be known.
  std::optional<bool> outlives(PlaceId P, const flow::Loop &L) const;
  /// The object at P comes from outside of what was analysed.
  bool isFromOutside(PlaceId P) const;
  /// A and B may be, or hold, the same object.
  bool mayAlias(PlaceId A, PlaceId B) const;
  bool mayAlias(const PlaceSet &A, const PlaceSet &B) const;

  /// Every path from the beginning to B passes A.
  bool comesBefore(flow::Digraph::Node A, flow::Digraph::Node B) const;

  /// The statement that makes the loop: for, while, do, or the call that
  /// repeats a function; null for a goto.
  const clang::Stmt *loopStatement(const flow::Loop &L) const;
  /// The loops around N, outermost first.
  llvm::SmallVector<const flow::Loop *, 4>
  loopsAround(flow::Digraph::Node N) const;

  /// A module's forward() is running in this activation.
  bool isInForward(const Frame *F) const;
  /// Time steps and layers: what a forward() keeps while it runs.
  bool isScratchOfForward(PlaceId P) const;

  /// All events in the order of the points, for people who debug the model.
  void print(llvm::raw_ostream &Out) const;

private:
  Code &Program;
  Supergraph Graph;
  PlaceTable Places;
  std::vector<Origin> Origins;
  flow::Digraph Points;
  std::vector<Point> PointInfo;
  std::vector<Event> Events;
  std::optional<flow::LoopForest> Loops;
  flow::Digraph::Node First = 0;
  /// Made when first asked for.
  mutable std::optional<flow::Dominators> Order;
  /// Where each activation begins.
  llvm::DenseMap<const Frame *, flow::Digraph::Node> Begins;
  std::set<std::pair<const Frame *, const clang::Stmt *>> ForwardSites;
  State AtEnd;
  bool Complete = true;
  PlaceSet GivenUp;
  OriginSet Lent;
  bool DefaultTypeChanges = false;
};

} // namespace torchtidy::model

#endif
