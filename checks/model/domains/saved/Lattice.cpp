#include "model/domains/saved/Lattice.h"

namespace torchtidy::model {

bool SavedTensors::addNeed(SaveId Id) {
  return Needs.size() < MaxSaves && insert(Needs, Id);
}

bool SavedTensors::takeNeeds(const SavedTensors &From) {
  bool Changed = false;
  if (Needs != From.Needs)
    for (SaveId Id : From.Needs)
      Changed |= addNeed(Id);
  for (OverwriteId Id : From.Spoiled)
    Changed |= Spoiled.size() < MaxSaves && insert(Spoiled, Id);
  assert(Needs.size() <= MaxSaves && "somebody added past addNeed()");
  return Changed;
}

bool SavedTensors::join(const SavedTensors &Other) {
  const bool Changed = insert(SavedBy, Other.SavedBy);
  return takeNeeds(Other) || Changed;
}

} // namespace torchtidy::model
