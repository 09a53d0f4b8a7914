// Where modules are: their parameters and buffers go where to() says; tensors
// that are only members stay.
#include "model/domains/device/Transfer.h"
#include "model/machine/Machine.h"
#include "torch/Devices.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model::device {

static bool isModulePlace(const PlaceTable &Places, PlaceId P) {
  const QualType Type = Places.knownType(P);
  return Type.isNull() || torch::isModule(Type) || torch::moduleClass(Type);
}

static bool isTensorPlace(const PlaceTable &Places, PlaceId P) {
  const QualType Type = Places.knownType(P);
  return !Type.isNull() && torch::isTensor(Type);
}

/// A member that names a device: it says the same wherever the module goes.
static bool isDevicePlace(const PlaceTable &Places, PlaceId P) {
  return torch::maySayDevice(Places.knownType(P));
}

Placement placementOf(Machine &M, PlaceId Module) {
  const PlaceTable &Places = M.places();
  for (PlaceId Around = Module; isModulePlace(Places, Around);
       Around = Places.parent(Around)) {
    if (const Value *V = M.state().find(Around); V && V->saysDevice()) {
      Placement Result;
      Result.setDevice(*V);
      return Result;
    }
    if (Places.isRoot(Around))
      break;
  }
  return {};
}

Placement placementOf(Machine &M, const PlaceSet &Modules) {
  Placement Result;
  for (PlaceId P : Modules) {
    const Placement One = placementOf(M, P);
    Result.joinDevice(One.saysDevice() ? One : Placement::unknown());
  }
  return Result;
}

/// A tensor in a module that goes to To.
static void moveTensor(Value &V, const Placement &To) {
  if (V.Registered == registered::Yes)
    return V.setDevice(To);
  if (V.Registered == registered::No)
    return;
  V.joinDevice(To);
  V.joinDevice(Placement::unknown());
}

void move(Machine &M, const PlaceSet &Modules, const Placement &To) {
  const PlaceTable &Places = M.places();
  llvm::SmallVector<PlaceId, 16> Work;
  for (PlaceId P : M.withParts(Modules)) {
    Work.push_back(P);
    if (!isTensorPlace(Places, P) && isModulePlace(Places, P))
      M.state().Places[P].setDevice(To);
  }
  const llvm::SmallVector<PlaceId, 16> Tops = Work;
  while (!Work.empty()) {
    const PlaceId P = Work.pop_back_val();
    if (isDevicePlace(Places, P))
      continue;
    auto It = M.state().Places.find(P);
    if (It != M.state().Places.end()) {
      if (!Places.isRoot(P) && Places.step(P).Of == Step::Parameters)
        It->second.setDevice(To);
      else if (isTensorPlace(Places, P))
        moveTensor(It->second, To);
      else if (!llvm::is_contained(Tops, P))
        It->second.setDevice(Placement());
    }
    for (PlaceId Child : Places.children(P))
      if (!llvm::is_contained(Tops, Child))
        Work.push_back(Child);
  }
}

void lose(Machine &M, const PlaceSet &Modules) {
  for (PlaceId P : M.withParts(Modules)) {
    const QualType Type = M.places().knownType(P);
    if (Type.isNull() || !torch::isModule(Type))
      continue;
    llvm::SmallVector<PlaceId, 8> Work = {P};
    while (!Work.empty()) {
      const PlaceId Next = Work.pop_back_val();
      if (isDevicePlace(M.places(), Next))
        continue;
      auto It = M.state().Places.find(Next);
      if (It != M.state().Places.end() && It->second.saysDevice())
        It->second.joinDevice(Placement::unknown());
      llvm::append_range(Work, M.places().children(Next));
    }
    if (!M.state().Places[P].saysDevice())
      M.state().Places[P].setDevice(Placement::unknown());
  }
}

void loseLayerOf(Machine &M, PlaceId P) {
  const PlaceTable &Places = M.places();
  if (Places.isRoot(P) || Places.step(P).Of != Step::Field)
    return;
  const FieldDecl *Member = Places.step(P).Member;
  const auto *Layer = dyn_cast<CXXRecordDecl>(Member->getParent());
  if (Layer && torch::isLibTorch(Layer) && torch::isTensor(Member->getType()) &&
      torch::kindOf(Layer) == torch::TypeKind::Module)
    device::lose(M, {Places.parent(P)});
}

void markMade(Machine &M, const PlaceSet &Modules, bool IsSeen) {
  for (PlaceId P : Modules) {
    // A static variable may have been made, and moved, before.
    const bool IsNew = IsSeen && M.places().rootKind(P) != Root::Global;
    if (Value &V = M.state().Places[P]; !V.saysDevice())
      V.setDevice(IsNew ? Placement::on(Device::CPU) : Placement::unknown());
  }
}

void enterMethod(const PlaceTable &Places, PlaceId P, Value &Member) {
  const QualType Type = Places.knownType(P);
  forgetIndex(Type, Member);
  if (Member.OnDevice.isEmpty())
    return;
  // That a module was moved is told; that it was not may be wrong by now.
  const bool IsMoved = !Type.isNull() && torch::isModule(Type) &&
                       !Member.OnDevice.has(Device::CPU);
  if (!IsMoved)
    Member.OnDevice.join(Devices::unknown());
}

void given(Machine &M, PlaceId Object) { device::lose(M, {Object}); }

} // namespace torchtidy::model::device
