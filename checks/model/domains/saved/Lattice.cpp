#include "model/domains/saved/Lattice.h"

namespace torchtidy::model {

/// Keeps the first MaxSaves. True when the set has changed.
template <class Set, class Id> static bool insertFirst(Set &Into, Id What) {
  constexpr unsigned Most = SavedTensors::MaxSaves;
  if (Into.size() >= Most && !(What < Into.back()))
    return false;
  if (!insert(Into, What))
    return false;
  if (Into.size() > Most)
    Into.pop_back();
  return true;
}

bool SavedTensors::addNeed(SaveId Id) { return insertFirst(Needs, Id); }

bool SavedTensors::takeNeeds(const SavedTensors &From) {
  bool Changed = false;
  if (Needs != From.Needs)
    for (SaveId Id : From.Needs)
      Changed |= addNeed(Id);
  for (OverwriteId Id : From.Spoiled)
    Changed |= insertFirst(Spoiled, Id);
  assert(Needs.size() <= MaxSaves && "somebody added past addNeed()");
  return Changed;
}

bool SavedTensors::join(const SavedTensors &Other) {
  const bool Changed = insert(SavedBy, Other.SavedBy);
  return takeNeeds(Other) || Changed;
}

} // namespace torchtidy::model
