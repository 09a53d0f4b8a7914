#include "autograd/UndetachedHiddenState.h"
#include "ast/Expressions.h"
#include "queries/graphs/UnusedGraphs.h"
#include "queries/loops/LoopCounters.h"
#include "queries/loops/Slots.h"
#include "torch/Types.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include <set>

using namespace clang;

namespace torchtidy::model {

using flow::Loop;

namespace {

class StateQuery {
public:
  StateQuery(Program &User, const Execution &Entry,
             llvm::ArrayRef<UnusedGraph> Unused, const StoreEvent &Store)
      : User(User), Entry(Entry), Unused(Unused), Store(Store) {}

  std::optional<CarriedState> run() {
    if (!Store.Stored.mayHaveGraph() || Store.Stored.ManyOrigins ||
        Store.Places.size() != 1 || !isReplaced())
      return std::nullopt;
    Place = Store.Places.front();
    if (std::optional<CarriedState> Found = aroundLoop())
      return Found;
    return toNextCall();
  }

  bool isUsed() const { return isUsed(Store.Origin); }

private:
  /// The state takes the place of the one before it. What is added to (a sum of
  /// losses) is no state.
  bool isReplaced() const {
    if (Store.How == StoreKind::Rebind || Store.How == StoreKind::InPlace)
      return true;
    // states[layer] = ...; a container that is pushed to only grows.
    return Store.How == StoreKind::Append &&
           (isa<BinaryOperator>(Store.Site) ||
            isa<CXXOperatorCallExpr>(Store.Site));
  }

  CarriedState describe(CarriedState::Kind Outcome, const Loop *Around,
                        const BackwardEvent *Backward) const {
    CarriedState Result;
    Result.Outcome = Outcome;
    Result.Entry = &Entry;
    Result.Store = &Store;
    Result.Place = Place;
    Result.Around = Around;
    Result.Backward = Backward;
    for (OriginId Id : Store.Stored.Origins) {
      const Origin &From = Entry.origin(Id);
      if (From.isBuilder() && (!Result.Built || From.Of == Origin::Forward))
        Result.Built = &From;
    }
    return Result;
  }

  static CarriedState::Kind outcome(const BackwardEvent &Backward) {
    return Backward.RetainsGraph ? CarriedState::Retained
                                 : CarriedState::Throws;
  }

  std::optional<CarriedState> aroundLoop() const {
    if (!Store.Stored.hasOrigin(Store.Origin))
      return std::nullopt;
    auto Loops = Entry.loopsAround(Store.Point);
    for (const Loop *L : llvm::reverse(Loops)) {
      std::optional<bool> Outlives = Entry.outlives(Place, *L);
      if (!Outlives || !*Outlives || isHandedOutIn(*L) ||
          fillsSlotsInOrder(Entry, Store, *L) ||
          writesOwnElement(Entry, Store, *L))
        continue;
      for (const BackwardEvent &Backward : Entry.events<BackwardEvent>())
        if (L->contains(Backward.Point) &&
            Backward.Root.hasOrigin(Store.Origin) &&
            Store.Stored.hasOrigin(Backward.Origin))
          return describe(outcome(Backward), L, &Backward);
    }
    if (isUsed(Store.Origin) || Entry.isScratchOfForward(Place) ||
        isResultOfHelper())
      return std::nullopt;
    for (const Loop *L : llvm::reverse(Loops)) {
      std::optional<bool> Outlives = Entry.outlives(Place, *L);
      if (Outlives && *Outlives && isBuiltIn(*L) && isInference(*L) &&
          !writesOwnElement(Entry, Store, *L))
        return describe(CarriedState::Grows, L, nullptr);
    }
    return std::nullopt;
  }

  /// A member or a global variable that the function computes from itself.
  std::optional<CarriedState> toNextCall() const {
    std::optional<OriginId> AtEntry;
    for (OriginId Id : Store.Stored.Origins) {
      const Origin &From = Entry.origin(Id);
      if (From.Of == Origin::Entry && Entry.places().overlap(From.Place, Place))
        AtEntry = Id;
    }
    if (!AtEntry || isMadeAfreshElsewhere())
      return std::nullopt;
    const Value AtEnd = Entry.heldAtEnd(Place);
    if (!AtEnd.mayHaveGraph() || !AtEnd.hasOrigin(Store.Origin) ||
        isOfLibrary(Place))
      return std::nullopt;
    // In order: what is given away only after a backward() was not detached
    // before it.
    for (const Event &E : Entry.events()) {
      if (const auto *Escape = E.getAs<EscapeEvent>();
          Escape && isGivenTo(*Escape))
        return std::nullopt;
      if (const auto *Backward = E.getAs<BackwardEvent>();
          Backward && Backward->Root.hasOrigin(*AtEntry) &&
          AtEnd.hasOrigin(Backward->Origin))
        return describe(outcome(*Backward), nullptr, Backward);
    }
    if (isUsed(*AtEntry) || !feedsForward(*AtEntry, nullptr))
      return std::nullopt;
    return describe(CarriedState::Grows, nullptr, nullptr);
  }

  /// Code that cannot be seen gets the state.
  bool isGivenTo(const EscapeEvent &Escape) const {
    return Entry.mayAlias(Escape.Places, {Place}) ||
           Escape.Given.hasOrigin(Store.Origin);
  }

  /// Whoever gets the state may detach it.
  bool isHandedOutIn(const Loop &L) const {
    return llvm::any_of(Entry.events<EscapeEvent>(), [&](const auto &Escape) {
      return L.contains(Escape.Point) && isGivenTo(Escape) &&
             !isa_and_nonnull<ReturnStmt>(Escape.In->Flow->parent(Escape.Site));
    });
  }

  /// Time steps of one sequence: what is computed from the state is backwarded,
  /// or leaves what is analysed.
  bool isUsed(OriginId Id) const {
    const auto IsMadeFromState = [&](const Value &V) {
      return V.needsGrad() && (V.ManyOrigins || V.hasOrigin(Id));
    };
    return llvm::any_of(Entry.events<GraphUseEvent>(),
                        [&](const auto &Use) {
                          return Use.Is != Event::Inspect &&
                                 IsMadeFromState(Use.Root);
                        }) ||
           llvm::any_of(Entry.events<EscapeEvent>(), [&](const auto &Escape) {
             return IsMadeFromState(Escape.Given);
           });
  }

  /// A helper unrolls a sequence and returns what it has computed: its caller
  /// decides.
  bool isResultOfHelper() const {
    const PlaceTable &Places = Entry.places();
    const PlaceId RootPlace = Places.rootOf(Place);
    if (Places.rootKind(RootPlace) != Root::Local)
      return false;
    const Frame *Owner = Entry.graph().frames()[Places.frame(RootPlace)].get();
    return Owner->Caller && !Owner->Function->getReturnType()->isVoidType() &&
           torch::mayHoldTensor(Owner->Function->getReturnType());
  }

  /// Not layer after layer: x = layer->forward(x).
  bool isOneModule(const ForwardEvent &Forward, const Loop *L) const {
    const auto *Call = dyn_cast<CallExpr>(Forward.Site);
    if (L && Call &&
        LoopCounters(Entry).follows(ast::objectOf(Call), Forward.In, *L))
      return false;
    return llvm::none_of(Forward.Modules, [&](PlaceId P) {
      return Entry.places().isSummary(P);
    });
  }

  const ForwardEvent *feedsForward(OriginId Id, const Loop *L) const {
    for (const ForwardEvent &Forward : Entry.events<ForwardEvent>())
      if ((!L || L->contains(Forward.Point)) && Forward.Input.hasOrigin(Id) &&
          isOneModule(Forward, L))
        return &Forward;
    return nullptr;
  }

  /// Each iteration adds to the graph. A tensor that is only moved or reshaped
  /// stays where it was made.
  bool isBuiltIn(const Loop &L) const {
    const Stmt *Statement = Entry.loopStatement(L);
    return llvm::any_of(Store.Stored.Origins, [&](OriginId Id) {
      const Origin &From = Entry.origin(Id);
      if (!From.isBuilder())
        return false;
      if (Entry.beginsIn(From.In, L) ||
          (Statement && Statement->getSourceRange().fullyContains(
                            From.Site->getSourceRange())))
        return true;
      return llvm::any_of(
          Entry.events<ForwardEvent>(), [&](const auto &Forward) {
            return Forward.Origin == Id && L.contains(Forward.Point);
          });
    });
  }

  /// A recurrent cell written as operations on parameters, without a module.
  bool isOwnCell() const {
    return llvm::any_of(Store.Stored.Origins, [&](OriginId Id) {
      return Entry.origin(Id).Of == Origin::Operation;
    });
  }

  bool isInference(const Loop &L) const {
    const ForwardEvent *Forward = feedsForward(Store.Origin, &L);
    if (!Forward && !isOwnCell())
      return false;
    // A caller may hold a guard. A member is used again by the next call, so
    // backward() is not meant to reach it.
    if ((Forward ? Forward->GradMode : Store.GradMode) == mode::On)
      return true;
    const Root Kind = Entry.places().rootKind(Place);
    if (Kind == Root::This || Kind == Root::Global)
      return true;
    if (Forward)
      for (const UnusedGraph &Found : Unused)
        if (Found.Forward == Forward && !Found.IsStrictOnly)
          return true;
    return false;
  }

  /// Another function of the file detaches the member or gives it a new value:
  /// sequences begin there.
  bool isMadeAfreshElsewhere() const {
    for (const auto &Other : User.executions())
      for (const UpdateEvent &Update : Other->events<UpdateEvent>()) {
        if (Update.Site == Store.Site ||
            isa<CXXConstructorDecl>(Update.In->Function))
          continue;
        const auto *Again = Update.getAs<StoreEvent>();
        const bool IsSameState =
            Again && (Again->Stored.hasOrigin(Again->Origin) ||
                      isSameForward(*Other, *Again));
        if (!IsSameState && llvm::any_of(Update.Places, [&](PlaceId P) {
              return isSamePlace(*Other, P);
            }))
          return true;
      }
    return false;
  }

  /// P of another entry is the member, or the global variable, of the state.
  bool isSamePlace(const Execution &Other, PlaceId P) const {
    if (const FieldDecl *Field = firstField(Entry, Place))
      return firstField(Other, P) == Field;
    return Other.places().key(Other.places().rootOf(P)) ==
           Entry.places().key(Entry.places().rootOf(Place));
  }

  /// The other part of the state, which the same forward pass makes: c beside
  /// h.
  bool isSameForward(const Execution &Other, const StoreEvent &Beside) const {
    for (OriginId Id : Beside.Stored.Origins) {
      const Origin &From = Other.origin(Id);
      if (From.isBuilder())
        for (OriginId Mine : Store.Stored.Origins)
          if (Entry.origin(Mine).Site == From.Site)
            return true;
    }
    return false;
  }

  static const FieldDecl *firstField(const Execution &Entry, PlaceId P) {
    const PlaceTable &Places = Entry.places();
    if (Places.rootKind(P) != Root::This)
      return nullptr;
    const FieldDecl *Result = nullptr;
    for (; !Places.isRoot(P); P = Places.parent(P))
      if (Places.step(P).Of == Step::Field)
        Result = Places.step(P).Member;
    return Result;
  }

  /// A parameter, or what lies in a module of LibTorch, is no state.
  bool isOfLibrary(PlaceId P) const {
    return Entry.places().hasStep(P, Step::Parameters) ||
           Entry.places().hasStep(P, Step::Gradient);
  }

  Program &User;
  const Execution &Entry;
  llvm::ArrayRef<UnusedGraph> Unused;
  const StoreEvent &Store;
  PlaceId Place;
};

} // namespace

/// Stores whose graph is used in some entry: a cell that training and sampling
/// share. Where it is not, the mistake is the caller's.
static std::set<const Expr *> usedStores(Program &Program) {
  std::set<const Expr *> Result;
  for (const auto &Entry : Program.executions())
    for (const StoreEvent &Store : Entry->events<StoreEvent>())
      if (StateQuery(Program, *Entry, {}, Store).isUsed())
        Result.insert(Store.Site);
  return Result;
}

std::vector<CarriedState> carriedStates(Program &Program) {
  std::vector<CarriedState> Result;
  // All stores against all uses: asked only where it matters.
  std::optional<std::set<const Expr *>> Used;
  const auto IsUsedElsewhere = [&](const StoreEvent &Store) {
    if (!Used)
      Used = usedStores(Program);
    return Used->count(Store.Site) != 0;
  };
  for (const auto &Entry : Program.executions()) {
    const size_t First = Result.size();
    std::vector<UnusedGraph> Unused;
    bool IsAsked = false;
    for (const StoreEvent &Store : Entry->events<StoreEvent>()) {
      if (!IsAsked && Store.Stored.mayHaveGraph()) {
        Unused = unusedGraphs(*Entry);
        IsAsked = true;
      }
      std::optional<CarriedState> Found =
          StateQuery(Program, *Entry, Unused, Store).run();
      if (!Found ||
          (Found->Outcome == CarriedState::Grows && IsUsedElsewhere(Store)))
        continue;
      // h and c of one cell are one state.
      bool IsPart = false;
      for (size_t I = First; I < Result.size() && !IsPart; ++I)
        if (Found->Built && Result[I].Built == Found->Built &&
            Result[I].Around == Found->Around &&
            Result[I].Store->In == Store.In) {
          Result[I].Others.push_back(Found->Store);
          IsPart = true;
        }
      if (!IsPart)
        Result.push_back(std::move(*Found));
    }
  }
  return Result;
}

} // namespace torchtidy::model
