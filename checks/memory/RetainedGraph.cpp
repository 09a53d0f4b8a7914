#include "memory/RetainedGraph.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "queries/graphs/UnguardedThreads.h"
#include "queries/graphs/UsedChains.h"
#include "queries/loops/LoopInvariance.h"
#include "queries/loops/Loops.h"
#include "queries/loops/Slots.h"
#include "queries/paths/MemberReads.h"
#include "torch/Api.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/DenseSet.h"
#include <set>

using namespace clang;

namespace torchtidy::model {

using flow::Loop;

namespace {

class StoreQuery {
public:
  StoreQuery(const Execution &Entry, const MemberReads &Reads,
             const StoreEvent &Store)
      : Entry(Entry), Reads(Reads), Store(Store) {}

  std::optional<Retention> run() {
    if (Store.Places.size() != 1)
      return std::nullopt;
    const PlaceId Place = Store.Places.front();
    if (Entry.isScratchOfForward(Place) || isThread())
      return std::nullopt;
    std::optional<Retention> Found =
        Store.Stored.mayHaveGraph() ? inLoop(Place) : std::nullopt;
    if (!Found)
      Found = overCalls(Place);
    // These go through all events: asked of what would be told alone.
    return Found && (isGivenAway() || isAskedForGradient(Place)) ? std::nullopt
                                                                 : Found;
  }

private:
  Retention describe(Retention::Kind How, PlaceId Place) const {
    Retention Result;
    Result.How = How;
    Result.Entry = &Entry;
    Result.Store = &Store;
    Result.Place = Place;
    Result.Built = builder();
    return Result;
  }

  std::optional<Retention> inLoop(PlaceId Place) const {
    Retention::Kind How = Retention::Grows;
    switch (Store.How) {
    case StoreKind::Append:
      How = Retention::Grows;
      break;
    case StoreKind::Accumulate:
    case StoreKind::InPlace:
      // Writing into a long-lived tensor chains its histories.
      How = Retention::Chains;
      break;
    case StoreKind::Rebind:
      // worst = torch::max(worst, loss)
      if (Store.Stored.hasOrigin(Store.Origin) && isComputed(Store.Operand)) {
        How = Retention::Chains;
        break;
      }
      // A copy that is kept. What is computed into a variable of the loop's
      // function is that variable's own: bounded, and common in good code.
      // So is a state that a forward pass returns as a tuple.
      if (!isCopyOfNamed(Store.Operand) || isHeldAnyway(Store.Operand))
        return std::nullopt;
      How = Retention::Overwrites;
      break;
    }
    for (const Loop *L : Entry.loopsAround(Store.Point)) {
      std::optional<bool> Outlives = Entry.outlives(Place, *L);
      if (!Outlives || !*Outlives || isReleased(Place, L) || isReadBack(*L) ||
          !isTraining(*L))
        continue;
      if (How != Retention::Grows && isRecurrence(*L))
        continue;
      if (How == Retention::Overwrites && isReadDetached(*L))
        continue;
      if (How == Retention::Grows && isOfFixedSize(*L))
        continue;
      Retention Result = describe(How, Place);
      Result.IsComputed =
          How == Retention::Chains && Store.How == StoreKind::Rebind;
      Result.IsFreed = How == Retention::Overwrites && isFreed(*L);
      Result.Around = L;
      for (const BackwardEvent &Backward : Entry.events<BackwardEvent>())
        Result.IsBackwarded |= L->contains(Backward.Point);
      return Result;
    }
    return std::nullopt;
  }

  /// A slot for each layer, or each device: the next iteration writes the same
  /// ones, and what it writes is not computed from what was there.
  bool isOfFixedSize(const Loop &L) const {
    return Store.Stored.hasOrigin(Store.Origin)
               ? fillsSlotsInOrder(Entry, Store, L)
               : overwritesSlots(Entry, Store, L);
  }

  /// The tensor is kept for the gradient that backward() leaves in it: a tape
  /// that the program keeps itself. Its detach() would get none.
  bool isAskedForGradient(PlaceId Place) const {
    return llvm::any_of(
        Entry.events<ReadGradientEvent>(),
        [&](const auto &Read) { return Entry.mayAlias({Place}, Read.Of); });
  }

  /// The function is called repeatedly, and the member that it fills is only
  /// ever read without its history, so the graph is kept for nothing.
  std::optional<Retention> overCalls(PlaceId Place) const {
    const bool Grows = Store.How == StoreKind::Append;
    if ((!Grows && Store.How != StoreKind::Accumulate) || !builder() ||
        (Store.GradMode & mode::Off) || !Entry.isFromOutside(Place) ||
        !Entry.loopsAround(Store.Point).empty())
      return std::nullopt;
    const Expr *Reader = Reads.discardOf(Entry.places(), Place);
    if (!Reader || isReleased(Place, nullptr))
      return std::nullopt;
    Retention Result =
        describe(Grows ? Retention::Grows : Retention::Chains, Place);
    Result.Reader = Reader;
    return Result;
  }

  /// What built the graph: a forward pass, or else an operation.
  const Origin *builder() const {
    const Origin *Result = nullptr;
    for (OriginId Id : Store.Stored.Origins) {
      const Origin &From = Entry.origin(Id);
      if (From.isBuilder() && (!Result || From.Of == Origin::Forward))
        Result = &From;
    }
    return Result;
  }

  /// A variable or a member, not the result of an expression.
  static bool isNamed(const Expr *E) {
    if (!E)
      return false;
    return isa<DeclRefExpr, MemberExpr>(ast::stripCopies(E));
  }

  /// That, or a tuple with one in it: make_tuple(epoch, loss).
  static bool isCopyOfNamed(const Expr *E) {
    if (!E || E->getType().isNull())
      return false;
    if (isNamed(E))
      return torch::isTensor(E->getType());
    const Expr *Made = ast::stripCopies(E);
    llvm::ArrayRef<const Expr *> Parts;
    if (const auto *List = dyn_cast<InitListExpr>(Made))
      Parts = llvm::ArrayRef(List->getInits(), List->getNumInits());
    else if (const auto *Construct = dyn_cast<CXXConstructExpr>(Made);
             Construct && Construct->getNumArgs() > 1)
      Parts = llvm::ArrayRef(Construct->getArgs(), Construct->getNumArgs());
    else if (const auto *Call = dyn_cast<CallExpr>(Made);
             Call && Call->getDirectCallee() &&
             torch::isStd(Call->getDirectCallee()) &&
             torch::meaning(Call->getDirectCallee()) ==
                 torch::StdMeaning::Tuple)
      Parts = llvm::ArrayRef(Call->getArgs(), Call->getNumArgs());
    return llvm::any_of(Parts, [](const Expr *Part) {
      return isNamed(Part) && torch::isTensor(Part->getType());
    });
  }

  /// What a parameter, or a member or an element of something that is not made
  /// here, has: another handle to it keeps nothing alive.
  static bool isHeldAnyway(const Expr *E) {
    E = ast::stripCopies(E);
    const bool IsPart = isa<MemberExpr>(E);
    while (true) {
      if (const auto *Member = dyn_cast<MemberExpr>(E))
        E = ast::strip(Member->getBase());
      else if (const auto *Call = dyn_cast<CallExpr>(E);
               Call && Call->isGLValue() && ast::objectOf(Call))
        E = ast::strip(ast::objectOf(Call));
      else
        break;
    }
    if (isa<CXXThisExpr>(E))
      return true;
    const auto *Ref = dyn_cast<DeclRefExpr>(E);
    const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    return V && (isa<ParmVarDecl>(V) || V->getType()->isReferenceType() ||
                 (IsPart && V->hasGlobalStorage()));
  }

  /// An operation makes it, here or where its variable is declared. A choice
  /// between what is there and something else is a copy of one of them, unless
  /// an operation on what is there makes the copy: w.defined() ? max(w, x) : x.
  bool isComputed(const Expr *E) const {
    const Expr *Made = E ? ast::stripCopies(E) : nullptr;
    if (const auto *Choice = dyn_cast_or_null<ConditionalOperator>(Made))
      return llvm::any_of(
          llvm::ArrayRef{Choice->getTrueExpr(), Choice->getFalseExpr()},
          [&](const Expr *Arm) {
            return mentionsPlace(Arm) && isOperation(Arm);
          });
    if (const auto *Ref = dyn_cast_or_null<DeclRefExpr>(Made))
      if (const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
          V && V->isLocalVarDecl() && V->getInit())
        Made = V->getInit();
    return Made && isOperation(Made);
  }

  static bool isOperation(const Expr *E) {
    const auto *Call = dyn_cast<CallExpr>(ast::stripCopies(E));
    return Call && torch::classify(Call).Kind == torch::Api::Operation;
  }

  /// The variable, or the member, that is stored to.
  bool mentionsPlace(const Expr *E) const {
    const PlaceTable &Places = Entry.places();
    const PlaceId P = Store.Places.front();
    const VarDecl *V = Places.isRoot(P) ? Places.variable(P) : nullptr;
    const FieldDecl *Member =
        Places.isRoot(P) ? nullptr : Places.step(P).Member;
    auto Names = [&](const Stmt *S) {
      const auto *Ref = dyn_cast<DeclRefExpr>(S);
      const auto *Part = dyn_cast<MemberExpr>(S);
      return (V && Ref && Ref->getDecl() == V) ||
             (Member && Part && Part->getMemberDecl() == Member);
    };
    return ast::anyStmt(E, Names, ast::Lambdas::Skip);
  }

  /// The next iteration reads it without its history: forward(x, h.detach()).
  bool isReadDetached(const Loop &L) const {
    return llvm::any_of(Entry.events<DiscardEvent>(), [&](const auto &Discard) {
      const auto *Call = dyn_cast_or_null<CallExpr>(Discard.Site);
      const torch::Call Kind = Call ? torch::classify(Call) : torch::Call();
      return L.contains(Discard.Point) && Kind.Op &&
             torch::isDetach(*Kind.Op) && mayComeFromStore(Discard.Left);
    });
  }

  /// A backward() in the loop goes through what built the graph, and frees it.
  bool isFreed(const Loop &L) const {
    return llvm::any_of(Entry.events<BackwardEvent>(), [&](const auto &Use) {
      return L.contains(Use.Point) && !Use.RetainsGraph &&
             llvm::any_of(Store.Stored.Origins, [&](OriginId Id) {
               return Entry.origin(Id).isBuilder() && Use.Root.hasOrigin(Id);
             });
    });
  }

  /// Code elsewhere gets the values and may use their graph.
  bool isGivenAway() const {
    return llvm::any_of(Entry.events<EscapeEvent>(),
                        [&](const auto &Escape) {
                          return mayComeFromStore(Escape.Given);
                        }) ||
           llvm::any_of(Entry.events<StoreEvent>(), [&](const auto &Other) {
             return Other.Site != Store.Site && isResult(Other) &&
                    mayComeFromStore(Other.Stored);
           });
  }

  /// What the caller passes by reference or address gets it: *loss += sum.
  bool isResult(const StoreEvent &Other) const {
    const PlaceTable &Places = Entry.places();
    return llvm::any_of(Other.Places, [&](PlaceId P) {
      const PlaceId Root = Places.rootOf(P);
      const auto *Parameter =
          dyn_cast_or_null<ParmVarDecl>(Places.variable(Root));
      return Parameter && Entry.isFromOutside(P) &&
             (Parameter->getType()->isReferenceType() ||
              Parameter->getType()->isPointerType());
    });
  }

  /// std::thread(run, &loss): it has the address only.
  bool isThread() const {
    const Expr *E = Store.Operand ? ast::stripCopies(Store.Operand) : nullptr;
    return E && torch::kindOf(E->getType().getNonReferenceType()) ==
                    torch::TypeKind::Thread;
  }

  bool mayComeFromStore(const Value &V) const {
    return V.ManyOrigins || V.hasOrigin(Store.Origin);
  }

  /// A backward() uses the values with their graph. Of values that are appended
  /// it is the whole sequence, after the loop: a backward() inside the loop
  /// would need them released as well.
  bool isReadBack(const Loop &L) const {
    return llvm::any_of(Entry.events<GraphUseEvent>(), [&](const auto &Use) {
      return Use.Is != Event::Inspect &&
             (Store.How != StoreKind::Append || !L.contains(Use.Point)) &&
             mayComeFromStore(Use.Root);
    });
  }

  bool isReleased(PlaceId P, const Loop *L) const {
    const auto LetsGo = [&](const auto &E) {
      return (!L || L->contains(E.Point)) && Entry.mayAlias({P}, E.Places);
    };
    return llvm::any_of(Entry.events<ReleaseEvent>(), LetsGo) ||
           llvm::any_of(Entry.events<EscapeEvent>(), LetsGo);
  }

  bool isTraining(const Loop &L) const {
    return goesBackward(Entry, L) ||
           llvm::any_of(Entry.events<ForwardEvent>(), [&](const auto &Forward) {
             return L.contains(Forward.Point) &&
                    Forward.Result.mayHaveGraph() &&
                    !Entry.isInForward(Forward.In) && !isLayer(Forward, L);
           });
  }

  /// One of the layers of a network, each of which gets what the one before has
  /// returned: the loop over them is a single pass.
  bool isLayer(const ForwardEvent &Forward, const Loop &L) const {
    const auto *Call = dyn_cast_or_null<CallExpr>(Forward.Site);
    const Expr *Module = Call ? ast::objectOf(Call) : nullptr;
    return Module && Forward.Input.hasOrigin(Forward.Origin) &&
           !Invariance(Entry).isInvariant(Module, Forward.In, L);
  }

  /// x = x + layer(x): the next iteration computes with it.
  bool isRecurrence(const Loop &L) const {
    return llvm::any_of(Entry.events<ForwardEvent>(), [&](const auto &Forward) {
      return L.contains(Forward.Point) && Forward.Input.hasOrigin(Store.Origin);
    });
  }

  const Execution &Entry;
  const MemberReads &Reads;
  const StoreEvent &Store;
};

} // namespace

/// A backward() goes through what has been stored there, for some caller.
static bool isTrainedThrough(const Execution &Entry, const StoreEvent &Store) {
  const auto Around = Entry.loopsAround(Store.Point);
  const Loop *L = Around.empty() ? nullptr : Around.back();
  return llvm::any_of(Entry.events<GraphUseEvent>(), [&](const auto &Use) {
    return Use.Is != Event::Inspect && Use.Root.hasOrigin(Store.Origin) &&
           (Store.How != StoreKind::Append || !L || !L->contains(Use.Point));
  });
}

/// Members that a backward() names, in whatever function:
/// layers[i].output.backward(gradient).
static llvm::DenseSet<const ValueDecl *> membersGoneThrough(Program &Program) {
  llvm::DenseSet<const ValueDecl *> Result;
  for (const auto &Entry : Program.executions())
    for (const GraphUseEvent &Use : Entry->events<GraphUseEvent>())
      if (Use.Is != Event::Inspect && Use.Site)
        ast::forEachStmt(
            Use.Site,
            [&](const Stmt *S) {
              if (const auto *Member = dyn_cast<MemberExpr>(S))
                if (isa<FieldDecl>(Member->getMemberDecl()))
                  Result.insert(Member->getMemberDecl());
            },
            ast::Lambdas::Skip);
  return Result;
}

/// A list for one pass, which the next call empties: in between another call
/// goes backward through what is in it.
static bool isTape(const Execution &Entry, const Retention &Found,
                   const llvm::DenseSet<const ValueDecl *> &GoneThrough) {
  return Found.How == Retention::Grows &&
         GoneThrough.contains(Entry.places().declaration(Found.Place)) &&
         llvm::any_of(Entry.events<ReleaseEvent>(), [&](const auto &Release) {
           return Entry.mayAlias({Found.Place}, Release.Places);
         });
}

std::vector<Retention> retentions(Program &Program) {
  std::vector<Retention> Result;
  const MemberReads Reads(Program);
  std::optional<llvm::DenseSet<const ValueDecl *>> GoneThrough;
  // Lists that a helper fills, for one caller who trains and one who evaluates:
  // the latter lacks a guard, and what is stored needs its graph.
  std::set<const Stmt *> Trained;
  for (const auto &Entry : Program.executions())
    for (const StoreEvent &Store : Entry->events<StoreEvent>())
      if (!Trained.count(Store.Site) && isTrainedThrough(*Entry, Store))
        Trained.insert(Store.Site);
  // The same where some caller brings a guard along.
  UsedChains Used;
  for (const auto &Entry : Program.executions())
    Used.add(*Entry);
  const auto IsForGuard = [&](const Execution &Entry, const StoreEvent &Store) {
    return llvm::any_of(
        Entry.events<ForwardEvent>(), [&](const ForwardEvent &Pass) {
          return Pass.In == Store.In && Store.Stored.hasOrigin(Pass.Origin) &&
                 !Entry.isInForward(Pass.In) &&
                 Used.isGuarded(Pass.In, Pass.Site) &&
                 !UsedChains::isUsed(Entry, Pass);
        });
  };
  // Whoever keeps these relies on a guard that is in another thread.
  const std::vector<UnguardedThread> Unguarded = unguardedThreads(Program);
  for (const auto &Entry : Program.executions())
    for (const StoreEvent &Store : Entry->events<StoreEvent>()) {
      const bool IsOfThread =
          llvm::any_of(Unguarded, [&](const UnguardedThread &Found) {
            return Found.Entry == Entry.get() &&
                   Store.Stored.hasOrigin(Found.Forward->Origin);
          });
      if (IsOfThread || Trained.count(Store.Site) || IsForGuard(*Entry, Store))
        continue;
      std::optional<Retention> Found = StoreQuery(*Entry, Reads, Store).run();
      if (Found && !GoneThrough)
        GoneThrough = membersGoneThrough(Program);
      if (Found && !isTape(*Entry, *Found, *GoneThrough))
        Result.push_back(*Found);
    }
  return Result;
}

} // namespace torchtidy::model
