#include "model/Value.h"
#include "llvm/ADT/STLExtras.h"

namespace torchtidy::model {

bool Value::addOrigin(OriginId Origin) {
  auto It = llvm::lower_bound(Origins, Origin);
  if (It != Origins.end() && *It == Origin)
    return false;
  if (Origins.size() >= MaxOrigins) {
    bool Changed = !ManyOrigins;
    ManyOrigins = true;
    return Changed;
  }
  Origins.insert(It, Origin);
  return true;
}

bool Value::hasOrigin(OriginId Origin) const {
  return llvm::binary_search(Origins, Origin);
}

/// What is not said to share its storage does not.
static uint8_t baseOf(const Value &V) {
  return V.History && !V.BaseHistory ? uint8_t(history::None) : V.BaseHistory;
}

bool Value::join(const Value &Other) {
  bool Changed = false;
  auto JoinBits = [&](uint8_t &Mine, uint8_t Theirs) {
    Changed |= (Mine | Theirs) != Mine;
    Mine |= Theirs;
  };
  JoinBits(Mode, Other.Mode);
  const uint8_t Base = baseOf(*this), Both = Base | baseOf(Other);
  Changed |= Base != Both;
  BaseHistory = Both;
  JoinBits(History, Other.History);
  JoinBits(Registered, Other.Registered);
  if (Other.ManyOrigins && !ManyOrigins)
    ManyOrigins = Changed = true;
  Changed |= OnDevice.join(Other.OnDevice);
  Changed |= OfType.join(Other.OfType);
  Changed |= Scalar.join(Other.Scalar);
  Changed |= InLayout.join(Other.InLayout);
  Changed |= InStorage.join(Other.InStorage);
  for (OriginId Origin : Other.Origins)
    Changed |= addOrigin(Origin);
  Changed |= insert(Refs, Other.Refs);
  Changed |= insert(ViewOf, Other.ViewOf);
  Changed |= insert(Memory, Other.Memory);
  Changed |= insert(Saved, Other.Saved);
  Changed |= DeviceFrom.join(Other.DeviceFrom);
  Changed |= insert(DecidedBy, Other.DecidedBy);
  Changed |= insert(Loans, Other.Loans);
  Changed |= insert(Dangling, Other.Dangling);
  return Changed;
}

bool Value::operator==(const Value &Other) const {
  return History == Other.History && baseOf(*this) == baseOf(Other) &&
         Registered == Other.Registered &&
         Mode == Other.Mode &&
         ManyOrigins == Other.ManyOrigins && OnDevice == Other.OnDevice &&
         OfType == Other.OfType && Scalar == Other.Scalar &&
         InLayout == Other.InLayout && InStorage == Other.InStorage &&
         Origins == Other.Origins && Refs == Other.Refs &&
         ViewOf == Other.ViewOf && Memory == Other.Memory &&
         Saved == Other.Saved && DeviceFrom == Other.DeviceFrom &&
         DecidedBy == Other.DecidedBy && Loans == Other.Loans &&
         Dangling == Other.Dangling;
}

} // namespace torchtidy::model
