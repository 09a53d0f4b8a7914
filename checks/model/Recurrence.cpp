#include "model/Recurrence.h"
#include "model/Evaluation.h"
#include "torch/Types.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include <set>

using namespace clang;

namespace torchtidy::model {

using flow::Loop;

namespace {

class StateQuery {
public:
  StateQuery(Program &User, const Execution &Way,
             llvm::ArrayRef<UnusedGraph> Unused, const Event &Store)
      : User(User), Way(Way), Unused(Unused), Store(Store) {}

  std::optional<CarriedState> run() {
    if (!Store.Result.mayHaveGraph() || Store.Result.ManyOrigins ||
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
                        const Event *Backward) const {
    CarriedState Result = {Outcome, &Way,   &Store,   {},
                           Place,   Around, Backward, nullptr};
    for (OriginId Id : Store.Result.Origins) {
      const Origin &From = Way.origin(Id);
      if (From.isBuilder() && (!Result.Built || From.Of == Origin::Forward))
        Result.Built = &From;
    }
    return Result;
  }

  std::optional<CarriedState> aroundLoop() const {
    if (!Store.Result.hasOrigin(Store.Origin))
      return std::nullopt;
    auto Loops = Way.loopsAround(Store.Point);
    for (const Loop *L : llvm::reverse(Loops)) {
      std::optional<bool> Outlives = Way.outlives(Place, *L);
      if (!Outlives || !*Outlives || isHandedOutIn(*L))
        continue;
      for (const Event &E : Way.events())
        if (E.Kind == EventKind::Backward && L->contains(E.Point) &&
            E.Result.hasOrigin(Store.Origin) &&
            Store.Result.hasOrigin(E.Origin))
          return describe(E.RetainsGraph ? CarriedState::Retained
                                         : CarriedState::Throws,
                          L, &E);
    }
    if (isUsed(Store.Origin) || Way.isScratchOfForward(Place) ||
        isResultOfHelper())
      return std::nullopt;
    for (const Loop *L : llvm::reverse(Loops)) {
      std::optional<bool> Outlives = Way.outlives(Place, *L);
      if (Outlives && *Outlives && isBuiltIn(*L) && isInference(*L))
        return describe(CarriedState::Grows, L, nullptr);
    }
    return std::nullopt;
  }

  /// A member or a global variable that the function computes from itself.
  std::optional<CarriedState> toNextCall() const {
    std::optional<OriginId> Entry;
    for (OriginId Id : Store.Result.Origins) {
      const Origin &From = Way.origin(Id);
      if (From.Of == Origin::Entry && Way.places().overlap(From.Place, Place))
        Entry = Id;
    }
    if (!Entry || isMadeAfreshElsewhere())
      return std::nullopt;
    const Value AtEnd = Way.heldAtEnd(Place);
    if (!AtEnd.mayHaveGraph() || !AtEnd.hasOrigin(Store.Origin) ||
        isOfLibrary(Place))
      return std::nullopt;
    for (const Event &E : Way.events()) {
      const bool IsGiven = E.Kind == EventKind::Escape &&
                           (isGivenTo(E) || E.Result.hasOrigin(Store.Origin));
      if (IsGiven)
        return std::nullopt;
      if (E.Kind == EventKind::Backward && E.Result.hasOrigin(*Entry) &&
          AtEnd.hasOrigin(E.Origin))
        return describe(E.RetainsGraph ? CarriedState::Retained
                                       : CarriedState::Throws,
                        nullptr, &E);
    }
    if (isUsed(*Entry) || !feedsForward(*Entry, nullptr))
      return std::nullopt;
    return describe(CarriedState::Grows, nullptr, nullptr);
  }

  bool isGivenTo(const Event &E) const {
    return llvm::any_of(E.Places,
                        [&](PlaceId P) { return Way.mayAlias(P, Place); });
  }

  /// Code that cannot be seen gets the state and may detach it.
  bool isHandedOutIn(const Loop &L) const {
    for (const Event &E : Way.events())
      if (E.Kind == EventKind::Escape && L.contains(E.Point) &&
          (isGivenTo(E) || E.Result.hasOrigin(Store.Origin)) &&
          !isa_and_nonnull<ReturnStmt>(E.In->Flow->parent(E.Site)))
        return true;
    return false;
  }

  /// Time steps of one sequence: what is computed from the state is backwarded,
  /// or leaves what is analysed.
  bool isUsed(OriginId Id) const {
    for (const Event &E : Way.events()) {
      const bool Reads = E.Kind == EventKind::Backward ||
                         E.Kind == EventKind::Grad ||
                         E.Kind == EventKind::Escape;
      if (Reads && E.Result.needsGrad() &&
          (E.Result.ManyOrigins || E.Result.hasOrigin(Id)))
        return true;
    }
    return false;
  }

  /// A helper unrolls a sequence and returns what it has computed: its caller
  /// decides.
  bool isResultOfHelper() const {
    const PlaceTable &Places = Way.places();
    const PlaceId RootPlace = Places.rootOf(Place);
    if (Places.rootKind(RootPlace) != Root::Local)
      return false;
    const Frame *Owner = Way.graph().frames()[Places.frame(RootPlace)].get();
    return Owner->Caller && !Owner->Function->getReturnType()->isVoidType() &&
           torch::mayHoldTensor(Owner->Function->getReturnType());
  }

  /// Not layer after layer: x = layer->forward(x).
  bool isOneModule(const Event &Forward, const Loop *L) const {
    const Stmt *Statement = L ? Way.loopStatement(*L) : nullptr;
    const auto *Each = dyn_cast_or_null<CXXForRangeStmt>(Statement);
    const auto *Call = dyn_cast<CallExpr>(Forward.Site);
    // The variable of the loop.
    for (const Expr *E = Each && Call ? objectOf(Call) : nullptr; E;) {
      E = strip(E);
      if (const auto *Ref = dyn_cast<DeclRefExpr>(E);
          Ref && Ref->getDecl() == Each->getLoopVariable())
        return false;
      const auto *Inner = dyn_cast<CallExpr>(E);
      E = Inner ? objectOf(Inner) : nullptr;
    }
    return llvm::none_of(Forward.Places,
                         [&](PlaceId P) { return Way.places().isSummary(P); });
  }

  const Event *feedsForward(OriginId Id, const Loop *L) const {
    for (const Event &E : Way.events())
      if (E.Kind == EventKind::Forward && (!L || L->contains(E.Point)) &&
          E.Input.hasOrigin(Id) && isOneModule(E, L))
        return &E;
    return nullptr;
  }

  /// Each iteration adds to the graph. A tensor that is only moved or reshaped
  /// stays where it was made.
  bool isBuiltIn(const Loop &L) const {
    const Stmt *Statement = Way.loopStatement(L);
    return llvm::any_of(Store.Result.Origins, [&](OriginId Id) {
      const Origin &From = Way.origin(Id);
      if (!From.isBuilder())
        return false;
      if (Way.beginsIn(From.In, L) ||
          (Statement && Statement->getSourceRange().fullyContains(
                            From.Site->getSourceRange())))
        return true;
      return llvm::any_of(Way.events(), [&](const Event &E) {
        return E.Kind == EventKind::Forward && E.Origin == Id &&
               L.contains(E.Point);
      });
    });
  }

  /// A cell that is written out: operations on parameters, no module.
  bool isOwnCell() const {
    return llvm::any_of(Store.Result.Origins, [&](OriginId Id) {
      return Way.origin(Id).Of == Origin::Operation;
    });
  }

  bool isInference(const Loop &L) const {
    const Event *Forward = feedsForward(Store.Origin, &L);
    if (!Forward && !isOwnCell())
      return false;
    // Whoever calls may hold a guard. A member goes on to the next call, which
    // shows that nobody is to backward through it.
    const Event &Sign = Forward ? *Forward : Store;
    if (Sign.GradMode == mode::On)
      return true;
    const Root Kind = Way.places().rootKind(Place);
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
    const FieldDecl *Field = firstField(Way, Place);
    for (const auto &Other : User.executions())
      for (const Event &E : Other->events()) {
        if (E.Kind != EventKind::Release && E.Kind != EventKind::Store)
          continue;
        if (E.Site == Store.Site || isa<CXXConstructorDecl>(E.In->Function) ||
            E.Result.hasOrigin(E.Origin))
          continue;
        for (PlaceId P : E.Places)
          if (Field ? firstField(*Other, P) == Field
                    : Other->places().key(Other->places().rootOf(P)) ==
                          Way.places().key(Way.places().rootOf(Place)))
            if (!(E.Kind == EventKind::Store && isSameForward(*Other, E)))
              return true;
      }
    return false;
  }

  /// c beside h.
  bool isSameForward(const Execution &Other, const Event &E) const {
    for (OriginId Id : E.Result.Origins) {
      const Origin &From = Other.origin(Id);
      if (From.isBuilder())
        for (OriginId Mine : Store.Result.Origins)
          if (Way.origin(Mine).Site == From.Site)
            return true;
    }
    return false;
  }

  static const FieldDecl *firstField(const Execution &Way, PlaceId P) {
    const PlaceTable &Places = Way.places();
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
    return Way.places().hasStep(P, Step::Parameters) ||
           Way.places().hasStep(P, Step::Gradient);
  }

  Program &User;
  const Execution &Way;
  llvm::ArrayRef<UnusedGraph> Unused;
  const Event &Store;
  PlaceId Place = 0;
};

} // namespace

/// Stores whose graph is used on some way: a cell that training and sampling
/// share. Where it is not, the mistake is the caller's.
static std::set<const Expr *> usedStores(Program &Program) {
  std::set<const Expr *> Result;
  for (const auto &Way : Program.executions())
    for (const Event &E : Way->events())
      if (E.Kind == EventKind::Store &&
          StateQuery(Program, *Way, {}, E).isUsed())
        Result.insert(E.Site);
  return Result;
}

std::vector<CarriedState> carriedStates(Program &Program) {
  std::vector<CarriedState> Result;
  const std::set<const Expr *> Used = usedStores(Program);
  for (const auto &Way : Program.executions()) {
    const size_t First = Result.size();
    std::vector<UnusedGraph> Unused;
    bool IsAsked = false;
    for (const Event &E : Way->events()) {
      if (E.Kind != EventKind::Store)
        continue;
      if (!IsAsked && E.Result.mayHaveGraph()) {
        Unused = unusedGraphs(*Way);
        IsAsked = true;
      }
      std::optional<CarriedState> Found =
          StateQuery(Program, *Way, Unused, E).run();
      if (!Found ||
          (Found->Outcome == CarriedState::Grows && Used.count(E.Site)))
        continue;
      // h and c of one cell are one state.
      bool IsPart = false;
      for (size_t I = First; I < Result.size() && !IsPart; ++I)
        if (Found->Built && Result[I].Built == Found->Built &&
            Result[I].Around == Found->Around && Result[I].Store->In == E.In) {
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
