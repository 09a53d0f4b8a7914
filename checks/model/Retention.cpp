#include "model/Retention.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace torchtidy::model {

using flow::Loop;

namespace {

class StoreQuery {
public:
  StoreQuery(const Execution &Way, const Readership &Readers,
             const Event &Store)
      : Way(Way), Readers(Readers), Store(Store) {}

  std::optional<Retention> run() {
    if (Store.Places.size() != 1)
      return std::nullopt;
    const PlaceId Place = Store.Places.front();
    if (Way.isScratchOfForward(Place) || isGivenAway())
      return std::nullopt;
    if (Store.Result.mayHaveGraph())
      if (std::optional<Retention> Found = inLoop(Place))
        return Found;
    return overCalls(Place);
  }

private:
  std::optional<Retention> inLoop(PlaceId Place) const {
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
      if (!Outlives || !*Outlives || isReleased(Place, L) || isReadBack(*L) ||
          !isTraining(*L))
        continue;
      if (How != Retention::Grows && isRecurrence(*L))
        continue;
      Retention Result = {How, &Store, Place, L, builder(), false};
      for (const Event &E : Way.events())
        Result.IsBackwarded |=
            E.Kind == EventKind::Backward && L->contains(E.Point);
      return Result;
    }
    return std::nullopt;
  }

  /// The function is called again and again, and the member that it fills is
  /// read without its history only: whoever reads it takes it for a graph.
  std::optional<Retention> overCalls(PlaceId Place) const {
    const bool Grows = Store.How == StoreKind::Append;
    if ((!Grows && Store.How != StoreKind::Accumulate) || !builder() ||
        (Store.GradMode & mode::Off) || !Way.isFromOutside(Place) ||
        !Way.loopsAround(Store.Point).empty())
      return std::nullopt;
    const Expr *Reader = Readers.discardOf(Way.places(), Place);
    if (!Reader || isReleased(Place, nullptr))
      return std::nullopt;
    return Retention{Grows ? Retention::Grows : Retention::Chains,
                     &Store,
                     Place,
                     nullptr,
                     builder(),
                     false,
                     Reader};
  }

  /// What built the graph: a forward pass, or else an operation.
  const Origin *builder() const {
    const Origin *Result = nullptr;
    for (OriginId Id : Store.Result.Origins) {
      const Origin &From = Way.origin(Id);
      if (From.isBuilder() && (!Result || From.Of == Origin::Forward))
        Result = &From;
    }
    return Result;
  }

  /// A variable or a member, not the result of an expression.
  static bool isNamed(const Expr *E) {
    if (!E)
      return false;
    return isa<DeclRefExpr, MemberExpr>(stripCopies(E));
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

  bool isReleased(PlaceId P, const Loop *L) const {
    for (const Event &E : Way.events()) {
      const bool LetsGo =
          E.Kind == EventKind::Release || E.Kind == EventKind::Escape;
      if (!LetsGo || (L && !L->contains(E.Point)))
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
  const Readership &Readers;
  const Event &Store;
};

} // namespace

std::vector<Retention> retentions(const Execution &Way,
                                  const Readership &Readers) {
  std::vector<Retention> Result;
  for (const Event &E : Way.events())
    if (E.Kind == EventKind::Store)
      if (std::optional<Retention> Found = StoreQuery(Way, Readers, E).run())
        Result.push_back(*Found);
  return Result;
}

} // namespace torchtidy::model
