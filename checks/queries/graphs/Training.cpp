#include "queries/graphs/Training.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model {

std::optional<PlaceSet> ownersOf(const Execution &Entry,
                                 const PlaceSet &Parameters) {
  const PlaceTable &Places = Entry.places();
  PlaceSet Owners;
  for (PlaceId P : Parameters) {
    const PlaceId Owner = Places.toldApart(Places.owner(P));
    const QualType Type = Places.knownType(Owner);
    // What an expression makes, and has parameters, is a module, though nobody
    // may know of which class.
    const bool IsModule = Places.hasStep(P, Step::Parameters) &&
                          Places.isRoot(Owner) &&
                          Places.rootKind(Owner) == Root::Object;
    if (Type.isNull() ? !IsModule
                      : !(torch::isTensor(Type) || torch::moduleClass(Type)))
      return std::nullopt;
    insert(Owners, Owner);
  }
  if (Owners.empty())
    return std::nullopt;
  return Owners;
}

bool mayClear(const Execution &Entry, const ZeroGradEvent &Clearing,
              const PlaceSet &Owners) {
  if (Clearing.Cleared.empty())
    return true;
  PlaceSet Cleared;
  for (const PlaceSet *Part : {&Clearing.Cleared, &Clearing.Trained})
    for (PlaceId P : *Part)
      insert(Cleared, Entry.places().owner(P));
  return Entry.mayAlias(Cleared, Owners);
}

bool begins(const Execution &Entry, const CreateEvent &Create,
            const PlaceSet &Owners) {
  return llvm::any_of(Create.Objects, [&](PlaceId Object) {
    return llvm::any_of(Owners, [&](PlaceId Owner) {
      return Entry.places().isWithin(Owner, Object);
    });
  });
}

} // namespace torchtidy::model
