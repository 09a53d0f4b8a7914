#include "model/domains/history/Lattice.h"
#include "model/base/Known.h"

namespace torchtidy::model {

bool AutogradHistory::addOrigin(OriginId Origin) {
  // Nothing is added to a full set that says that there are more.
  if (isFull())
    return false;
  auto It = llvm::lower_bound(Origins, Origin);
  if (It != Origins.end() && *It == Origin)
    return false;
  if (Origins.size() >= MaxOrigins) {
    const bool Changed = !ManyOrigins;
    ManyOrigins = true;
    return Changed;
  }
  Origins.insert(It, Origin);
  return true;
}

bool AutogradHistory::hasOrigin(OriginId Origin) const {
  return std::binary_search(Origins.begin(), Origins.end(), Origin);
}

/// What is not said to share its storage does not.
static uint8_t baseOf(const AutogradHistory &V) {
  return V.History && !V.BaseHistory ? uint8_t(history::None) : V.BaseHistory;
}

bool AutogradHistory::join(const AutogradHistory &Other) {
  const uint8_t Base = baseOf(*this), Both = Base | baseOf(Other);
  bool Changed = Base != Both;
  BaseHistory = Both;
  Changed |= joinBits(History, Other.History);
  Changed |= joinBits(ManyOrigins, Other.ManyOrigins);
  if (Origins != Other.Origins)
    for (OriginId Origin : Other.Origins)
      Changed |= addOrigin(Origin);
  assert(Origins.size() <= MaxOrigins && "the bound keeps the sets small");
  Changed |= insert(DecidedBy, Other.DecidedBy);
  Changed |= insert(Saved, Other.Saved);
  return Changed;
}

bool AutogradHistory::operator==(const AutogradHistory &Other) const {
  return History == Other.History && baseOf(*this) == baseOf(Other) &&
         ManyOrigins == Other.ManyOrigins && Origins == Other.Origins &&
         DecidedBy == Other.DecidedBy && Saved == Other.Saved;
}

} // namespace torchtidy::model
