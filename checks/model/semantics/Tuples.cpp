#include "model/semantics/Tuples.h"
#include "model/domains/loans/Transfer.h"
#include "model/semantics/Pointers.h"

using namespace clang;

namespace torchtidy::model::tuples {

Denotation make(Machine &M, const CallSite &Site) {
  const PlaceId Tuple = M.madeBy(Site.Call);
  const bool IsTie = torch::asTie(Site.Call);
  M.erase(Tuple);
  for (unsigned I = 0; I < Site.Arguments.size(); ++I) {
    const Expr *Argument = Site.Arguments[I];
    loans::shareHandle(M, Argument);
    Value Part = M.deepValue(Argument);
    if (IsTie)
      Part.Refs = M.objects(Argument);
    M.store(M.places().index(Tuple, I), Part);
  }
  Denotation Result;
  Result.Objects = {Tuple};
  return Result;
}

Denotation get(Machine &M, const CallSite &Site) {
  if (Site.Object)
    return pointers::get(M, Site);
  Denotation Result;
  if (!Site.first())
    return Result;
  const PlaceSet Tuples = M.objects(Site.first());
  const std::optional<unsigned> I = ast::tupleIndex(Site.callee());
  if (!I) {
    Result.Objects = Tuples;
    return Result;
  }
  for (PlaceId P : Tuples)
    insert(Result.Objects, M.places().index(P, *I));
  return Result;
}

void scatter(Machine &M, const Expr *Site, const CallExpr *Tie,
             const Expr *From, const Denotation &Source) {
  PlaceTable &Places = M.places();
  for (unsigned I = 0; I < Tie->getNumArgs(); ++I)
    if (const CallExpr *Inner = torch::asTie(Tie->getArg(I))) {
      Denotation Part;
      Part.Own = Source.Own;
      for (PlaceId P : Source.Objects)
        insert(Part.Objects, Places.index(P, I));
      scatter(M, Site, Inner, From, Part);
    }
  for (PlaceId Tuple : M.denote(Tie).Objects) {
    // Looking at the source makes places: the list may move.
    const llvm::SmallVector<PlaceId, 8> Parts(Places.children(Tuple).begin(),
                                              Places.children(Tuple).end());
    for (PlaceId Part : Parts) {
      if (Places.step(Part).Of != Step::Index)
        continue;
      const unsigned Number = Places.step(Part).Number;
      const Expr *Target =
          Number < Tie->getNumArgs() ? Tie->getArg(Number) : nullptr;
      const Value *Held = M.state().find(Part);
      if (!Held || (Target && torch::asTie(Target)))
        continue;
      const PlaceSet Into = Held->Refs;
      Value V = Source.Own;
      for (PlaceId P : Source.Objects)
        V.join(M.deepLoad(Places.index(P, Number)));
      for (PlaceId P : Into) {
        Value Stored = V;
        M.emitStore(Site, {P}, Stored, StoreKind::Rebind, From,
                    Target ? Target : From);
        M.store(P, Stored);
      }
    }
  }
}

} // namespace torchtidy::model::tuples
