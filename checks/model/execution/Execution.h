// One entry of the program, solved: its points, events, loops and states.
#ifndef TORCHTIDY_EXECUTION_EXECUTION_H
#define TORCHTIDY_EXECUTION_EXECUTION_H

#include "flow/PathQuery.h"
#include "model/base/Place.h"
#include "model/icfg/Supergraph.h"
#include "model/state/Event.h"
#include "model/state/State.h"
#include "llvm/ADT/iterator_range.h"
#include <array>
#include <set>

namespace torchtidy::model {

class Interpreter;

/// A point of the program: the start or the end of a segment, or an event.
struct Point {
  flow::Digraph::Node Segment = 0;
  /// Index of the event, or -1.
  int EventIndex = -1;
  bool IsEnd = false;
};

class Execution {
public:
  /// Depth: see Supergraph.
  Execution(Code &User, const clang::FunctionDecl *Root, bool IsThread = false,
            unsigned Depth = Supergraph::MaxDepth);

  /// How many values are read and written, summed over all visits of all
  /// segments. About two seconds; found programs take a hundredth of it.
  static constexpr unsigned long MaxWork = 10'000'000;
  /// How many values the states hold together: some 400 bytes each.
  static constexpr unsigned long MaxHeld = 1'000'000;
  /// The work that was done.
  unsigned long work() const { return Work; }

  /// False when a bound was met: what may happen is then not all known, and
  /// findings are not drawn from it.
  bool isComplete() const { return Complete; }
  const Frame &root() const { return Graph.root(); }
  const Supergraph &graph() const { return Graph; }
  Code &code() const { return User; }

  const flow::Digraph &points() const { return Points; }
  /// Where the entry begins.
  flow::Digraph::Node start() const { return First; }
  const Point &point(flow::Digraph::Node N) const { return PointInfo[N]; }
  const Segment &segment(flow::Digraph::Node N) const {
    return Graph.segment(PointInfo[N].Segment);
  }
  const flow::LoopForest &loops() const { return *LoopNest; }

  /// All events, in the order of the points.
  auto events() const {
    return llvm::map_range(
        Events, [](const EventPtr &E) -> const Event & { return *E; });
  }
  /// Those of one kind: for (const StoreEvent &Store : events<StoreEvent>()).
  /// Of a base (UpdateEvent), those of all its kinds.
  template <class EventT> auto events() const {
    if constexpr (isOneKind<EventT>(nullptr))
      return llvm::map_range(ByKind[EventT::Kind],
                             [](const Event *E) -> const EventT & {
                               return *llvm::cast<EventT>(E);
                             });
    else
      return llvm::map_range(
          llvm::make_filter_range(
              Events, [](const EventPtr &E) { return llvm::isa<EventT>(*E); }),
          [](const EventPtr &E) -> const EventT & {
            return *llvm::cast<EventT>(E.get());
          });
  }
  const Event *eventAt(flow::Digraph::Node N) const {
    int Index = PointInfo[N].EventIndex;
    return Index < 0 ? nullptr : Events[Index].get();
  }
  const PlaceTable &places() const { return Places; }
  const Origin &origin(OriginId Id) const { return Origins[Id.number()]; }
  const Allocation &allocation(AllocationId Id) const {
    return Allocations[Id.number()];
  }
  const Loan &loan(LoanId Id) const { return Lent[Id.number()]; }
  const Save &save(SaveId Id) const { return Saves[Id.number()]; }
  const Overwrite &overwrite(OverwriteId Id) const {
    return Overwrites[Id.number()];
  }
  /// All loans that were taken.
  auto loans() const {
    return llvm::map_range(llvm::seq<unsigned>(0, Lent.size()),
                           [](unsigned Number) { return LoanId(Number); });
  }

  /// What P, with everything in it, holds when the entry ends.
  Value heldAtEnd(PlaceId P) const;
  /// What holds a tensor of this memory then, or points to what does.
  PlaceSet holdersAtEnd(AllocationId Memory) const;

  /// Frame F begins inside the loop: each iteration has an activation of its
  /// own.
  bool beginsIn(const Frame *F, const flow::Loop &L) const;
  /// The object at P lives on when an iteration of L is over. Nothing when that
  /// cannot be known.
  std::optional<bool> outlives(PlaceId P, const flow::Loop &L) const;
  /// The object at P comes from outside of what was analysed.
  bool isFromOutside(PlaceId P) const;
  /// The variable or member whose initializer, or assignment, makes the heap
  /// object at P with new, make_unique or make_shared. Null for other places,
  /// and where it goes somewhere else: an argument, an element, a result.
  const clang::ValueDecl *ownerOf(PlaceId P) const;
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
  void record(Interpreter &Meaning,
              const std::vector<std::optional<State>> &Before);
  template <class EventT>
  static constexpr bool isOneKind(decltype(EventT::Kind) *) {
    return true;
  }
  template <class EventT> static constexpr bool isOneKind(...) { return false; }

  Code &User;
  Supergraph Graph;
  PlaceTable Places;
  std::vector<Origin> Origins;
  std::vector<Allocation> Allocations;
  std::vector<Loan> Lent;
  std::vector<Save> Saves;
  std::vector<Overwrite> Overwrites;
  flow::Digraph Points;
  std::vector<Point> PointInfo;
  std::vector<EventPtr> Events;
  std::array<std::vector<const Event *>, Event::Kinds> ByKind;
  std::optional<flow::LoopForest> LoopNest;
  flow::Digraph::Node First = 0;
  /// Made when first asked for.
  mutable std::optional<flow::Dominators> Order;
  /// Where each activation begins.
  llvm::DenseMap<const Frame *, flow::Digraph::Node> Begins;
  std::set<std::pair<const Frame *, const clang::Stmt *>> ForwardSites;
  State AtEnd;
  unsigned long Work = 0;
  bool Complete = true;
};

} // namespace torchtidy::model

#endif
