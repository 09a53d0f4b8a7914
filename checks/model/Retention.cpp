#include "model/Retention.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace torchtidy::model {

using flow::Loop;

namespace {

class StoreQuery {
public:
  StoreQuery(const Execution &Way, const Event &Store)
      : Way(Way), Store(Store) {}

  std::optional<Retention> run() {
    if (!Store.Result.mayHaveGraph() || Store.Places.size() != 1)
      return std::nullopt;
    PlaceId Place = Store.Places.front();
    if (isScratchOfForward(Place) || isGivenAway())
      return std::nullopt;
    Retention::Kind How = Retention::Grows;
    switch (Store.How) {
    case StoreKind::Append:
      How = Retention::Grows;
      break;
    case StoreKind::Accumulate:
      How = Retention::Chains;
      break;
    case StoreKind::InPlace:
      // Writing into a long-lived tensor chains its histories.
      How = Retention::Chains;
      break;
    case StoreKind::Rebind:
      // A copy that is kept. What is computed into a variable of the loop's
      // function is that variable's own: bounded, and common in good code.
      // So is a state that a forward pass returns as a tuple.
      if (!isNamed(Store.Operand) || !torch::isTensor(Store.Operand->getType()))
        return std::nullopt;
      How = Retention::Overwrites;
      break;
    }
    for (const Loop *L : Way.loopsAround(Store.Point)) {
      std::optional<bool> Outlives = Way.outlives(Place, *L);
      if (!Outlives || !*Outlives || isReleasedIn(Place, *L) ||
          isReadBack(*L) || !isTraining(*L))
        continue;
      if (How != Retention::Grows && isRecurrence(*L))
        continue;
      Retention Result = {How, &Store, Place, L, nullptr, false};
      for (OriginId Id : Store.Result.Origins)
        if (Way.origin(Id).Of != Origin::Through)
          if (!Result.Built || Way.origin(Id).Of == Origin::Forward)
            Result.Built = &Way.origin(Id);
      for (const Event &E : Way.events())
        Result.IsBackwarded |=
            E.Kind == EventKind::Backward && L->contains(E.Point);
      return Result;
    }
    return std::nullopt;
  }

private:
  /// A variable or a member, not the result of an expression.
  static bool isNamed(const Expr *E) {
    if (!E)
      return false;
    E = strip(E);
    if (const auto *Copy = dyn_cast<CXXConstructExpr>(E);
        Copy && Copy->getNumArgs() == 1)
      E = strip(Copy->getArg(0));
    return isa<DeclRefExpr, MemberExpr>(E);
  }

  /// Time steps and layers: what a forward pass keeps while it runs.
  bool isScratchOfForward(PlaceId P) const {
    const PlaceTable &Places = Way.places();
    PlaceId RootPlace = Places.rootOf(P);
    if (Places.rootKind(RootPlace) != Root::Local &&
        Places.rootKind(RootPlace) != Root::Object)
      return false;
    return Way.isInForward(Way.graph().frames()[Places.frame(RootPlace)].get());
  }

  /// Whoever gets the values may use their graph.
  bool isGivenAway() const {
    for (const Event &E : Way.events())
      if (E.Kind == EventKind::Escape &&
          (E.Result.ManyOrigins || E.Result.hasOrigin(Store.Origin)))
        return true;
    return false;
  }

  /// A backward() uses the values with their graph: those of a whole sequence
  /// when the loop is over. In the loop it would have to let them go, unless
  /// what is stored is one value.
  bool isReadBack(const Loop &L) const {
    for (const Event &E : Way.events()) {
      const bool Reads =
          E.Kind == EventKind::Backward || E.Kind == EventKind::Grad;
      if (Reads && (Store.How != StoreKind::Append || !L.contains(E.Point)) &&
          (E.Result.ManyOrigins || E.Result.hasOrigin(Store.Origin)))
        return true;
    }
    return false;
  }

  bool isReleasedIn(PlaceId P, const Loop &L) const {
    for (const Event &E : Way.events()) {
      const bool LetsGo =
          E.Kind == EventKind::Release || E.Kind == EventKind::Escape;
      if (!LetsGo || !L.contains(E.Point))
        continue;
      for (PlaceId Q : E.Places)
        if (Way.mayAlias(P, Q))
          return true;
    }
    return false;
  }

  bool isTraining(const Loop &L) const {
    for (const Event &E : Way.events())
      if (L.contains(E.Point) &&
          (E.Kind == EventKind::Backward ||
           (E.Kind == EventKind::Forward && E.Result.mayHaveGraph() &&
            !Way.isInForward(E.In))))
        return true;
    return false;
  }

  /// x = x + layer(x): the next iteration computes with it.
  bool isRecurrence(const Loop &L) const {
    for (const Event &E : Way.events())
      if (E.Kind == EventKind::Forward && L.contains(E.Point) &&
          E.Input.hasOrigin(Store.Origin))
        return true;
    return false;
  }

  const Execution &Way;
  const Event &Store;
};

} // namespace

std::vector<Retention> retentions(const Execution &Way) {
  std::vector<Retention> Result;
  for (const Event &E : Way.events())
    if (E.Kind == EventKind::Store)
      if (std::optional<Retention> Found = StoreQuery(Way, E).run())
        Result.push_back(*Found);
  return Result;
}

} // namespace torchtidy::model
