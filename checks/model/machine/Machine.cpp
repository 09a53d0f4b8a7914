#include "model/machine/Machine.h"
#include "ast/Expressions.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model {

bool Machine::isGradient(const PlaceSet &Set) const {
  return !Set.empty() && llvm::all_of(Set, [&](PlaceId P) {
    return !Places.isRoot(P) && Places.step(P).Of == Step::Gradient;
  });
}

/// Others may see what is stored at P: a member, what a parameter leads to.
static bool isSeenOutside(Machine &M, PlaceId P) {
  const PlaceTable &Places = M.places();
  const PlaceId RootPlace = Places.rootOf(P);
  const Root Kind = Places.rootKind(RootPlace);
  if (Kind == Root::Background)
    return true;
  if (Kind == Root::Local && P == RootPlace &&
      !Places.variable(P)->getType()->isReferenceType())
    return false;
  return M.isFromOutside(P);
}

void Machine::emitHostRead(const Expr *Site, const Value &V) {
  if (!V.HostCopies.empty())
    emit<HostReadEvent>(Site,
                        [&](HostReadEvent &E) { E.Copies = V.HostCopies; });
}

void Machine::emitKeep(const Expr *Site, const PlaceSet &To, const Value &V,
                       StoreKind How, const Expr *Operand) {
  if (V.Share && How != StoreKind::InPlace)
    emit<KeepEvent>(Site, [&](KeepEvent &E) {
      E.Places = To;
      E.How = How;
      E.Operand = Operand;
      E.Kept = V;
    });
}

void Machine::emitStore(const Expr *Site, const PlaceSet &To, Value &V,
                        StoreKind How, const Expr *Operand,
                        const Expr *Target) {
  auto Update = [&](UpdateEvent &E) {
    E.Places = To;
    E.How = How;
    E.Operand = Operand;
    E.Target = Target;
  };
  if (llvm::any_of(To, [&](PlaceId P) { return isSeenOutside(*this, P); }))
    emitHostRead(Site, V);
  emitKeep(Site, To, V, How, Operand);
  if (!V.mayHaveHistory()) {
    // What was there is let go; nothing with a history takes its place.
    if (How != StoreKind::Append && How != StoreKind::InPlace)
      emit<ReleaseEvent>(Site, Update);
    return;
  }
  const OriginId Through = origin(Origin::Through, Target ? Target : Site);
  emit<StoreEvent>(Site, [&](StoreEvent &E) {
    Update(E);
    E.Origin = Through;
    E.Stored = V;
  });
  V.addOrigin(Through);
}

void Machine::emitWrite(const Expr *Site, const Expr *Target,
                        const Value &Written, bool IsPointer) {
  emit<WriteEvent>(Site, [&](WriteEvent &E) {
    Denotation D = denoteOperand(Target);
    E.Places = D.Objects.empty() ? D.Own.ViewOf : D.Objects;
    E.Before = operandValue(Target);
    E.Written = Written;
    E.IsPointer = IsPointer;
  });
}

void Machine::emitRelease(const Expr *Site, const PlaceSet &Released,
                          StoreKind How) {
  emit<ReleaseEvent>(Site, [&](ReleaseEvent &E) {
    E.Places = Released;
    E.How = How;
  });
}

} // namespace torchtidy::model
