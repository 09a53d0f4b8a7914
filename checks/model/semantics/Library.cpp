#include "model/semantics/Library.h"
#include "model/domains/Transfers.h"
#include "model/domains/device/Transfer.h"
#include "model/domains/loans/Transfer.h"
#include "model/domains/saved/Transfer.h"
#include "model/semantics/Autocast.h"
#include "model/semantics/Autograd.h"
#include "model/semantics/Devices.h"
#include "model/semantics/GradMode.h"
#include "model/semantics/Losses.h"
#include "model/semantics/Modules.h"
#include "model/semantics/Std.h"
#include "torch/Devices.h"
#include "torch/Members.h"
#include "torch/Options.h"
#include "torch/Views.h"

using namespace clang;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

/// Tensor::reset(): the tensor is undefined.
static Denotation resetTensor(Machine &M, const CallSite &Site) {
  const PlaceSet Target = M.identity(Site.Object);
  if (M.isGradient(Target))
    autograd::emitCleared(M, Site.Call, Target);
  else
    for (PlaceId P : M.denote(Site.Object).Objects)
      M.store(P, Value::withHistory(history::None));
  return {};
}

/// x.device(), x.options().
static Denotation describeTensor(Machine &M, const CallSite &Site) {
  Denotation Result;
  Value Tensor;
  if (Site.Object->getType()->isPointerType())
    for (PlaceId P : M.receiver(Site.Object))
      Tensor.join(M.deepLoad(P));
  else
    Tensor = M.deepValue(Site.Object);
  device::describeDeviceOf(Tensor, Result.Own);
  if (torch::saysOptions(Site.callee()) ||
      torch::saysOldOptions(Site.callee())) {
    Result.Own.OfType = Tensor.OfType;
    Result.Own.Scalar = Tensor.Scalar;
  }
  return Result;
}

/// Of x.type(): its conversion to TensorOptions, its toScalarType().
static Denotation describeOldOptions(Machine &M, const CallSite &Site) {
  Denotation Result;
  const bool Keeps = torch::keepsOldOptions(Site.callee());
  device::describeDeviceOf(Keeps ? M.deepValue(Site.Object) : Value(),
                           Result.Own);
  return Result;
}

/// torch::requires_grad(), TensorOptions::requires_grad(bool).
static Denotation askForGradient(Machine &M, const CallSite &Site) {
  Denotation Result;
  if (Site.Object)
    Result.Own = M.deepValue(Site.Object);
  if (ast::boolAt(Site.first(), true) == true)
    Result.Own.History = history::Leaf;
  return Result;
}

/// device.set_index(1)
static void changeDevice(Machine &M, const CallSite &Site) {
  const auto *Method = dyn_cast<CXXMethodDecl>(Site.callee());
  if (!Method || Method->isConst())
    return;
  for (PlaceId P : M.denote(Site.Object).Objects) {
    Value V = M.load(P);
    V.Index = Known<DeviceIndex>::unknown();
    M.store(P, V);
  }
}

Denotation libraryCall(Machine &M, const CallSite &Site) {
  const FunctionDecl *Callee = Site.callee();
  const TypeKind ObjectKind = Site.objectKind();
  if (ObjectKind == TypeKind::Tensor) {
    if (torch::resetsTensor(Callee))
      return resetTensor(M, Site);
    // A pointer into its memory, through which it may be written.
    if (torch::givesWriteAccess(Callee))
      M.emitWrite(Site.Call, Site.Object, Value(), /*IsPointer=*/true);
    autocast::emitRead(M, Site);
    if (torch::saysDevice(Callee) || torch::saysOptions(Callee) ||
        torch::saysOldOptions(Callee))
      return describeTensor(M, Site);
  }
  if (Site.Object && torch::isOldOptions(Site.Object->getType()))
    return describeOldOptions(M, Site);
  if (torch::registersHook(Callee) || torch::removesHook(Callee))
    autograd::emitHook(M, Site);
  if (torch::saysGradMode(Callee))
    return gradmode::inForce(M);
  if (const Expr *Saved = torch::savesStorageOf(Site.Call))
    M.emitKeep(Site.Call, {}, M.deepValue(Saved), StoreKind::Rebind, Saved);
  if (torch::saysAutocast(Callee))
    return autocast::inForce(M);
  autocast::change(M, Site);
  if (torch::changesDefaultType(Callee))
    M.emit<DefaultDTypeEvent>(Site.Call);
  if (torch::isLaunch(Callee) && Site.first())
    loans::keepInBackground(M, M.deepValue(Site.first()));
  if (torch::saysRequiresGrad(Callee) &&
      !torch::mayHoldTensor(Site.Call->getType()))
    return askForGradient(M, Site);
  if ((ObjectKind == TypeKind::ModuleHolder ||
       ObjectKind == TypeKind::Pointer) &&
      torch::leadsToContent(Callee)) {
    const PlaceSet Leads = M.pointees(M.receiver(Site.Object));
    Denotation Result;
    if (Site.Call->isGLValue())
      Result.Objects = Leads;
    else
      Result.Own = Value::handle(Leads);
    return Result;
  }
  // sequential[1] of the holder.
  if (ObjectKind == TypeKind::ModuleHolder &&
      torch::partAccess(Callee) == torch::PartAccess::One)
    return modules::part(M, Site, torch::PartAccess::One);
  if (torch::comparesDevices(Callee) && Site.first())
    M.emit<CompareEvent>(Site.Call, [&](CompareEvent &E) {
      E.Left = M.deepValue(Site.Object);
      E.Right = M.deepValue(Site.first());
    });
  if (Site.Object && torch::maySayDevice(Site.Object->getType()))
    changeDevice(M, Site);
  // c10::List, OrderedDict and their like behave as those of std do.
  if (Site.Object && ObjectKind != TypeKind::Tensor &&
      !torch::isModule(Site.Object->getType())) {
    const Denotation Result = stdCall(M, Site);
    device::placeBatches(M, Callee, Result.Own.Refs);
    return Result;
  }
  const torch::Operation *Op = torch::functionalOperation(Callee);
  if (Op) {
    devices::meet(M, *Op, Site.Call, Site.Arguments);
    autocast::emitCasts(M, Site.Call, torch::keptCastsOfFunctional(*Op),
                        Site.Arguments);
    autocast::emitUses(M, Site.Call, *Op, Site.Arguments);
    losses::tell(M, Site.Call, *Op, Site.Arguments);
  }
  Denotation Result;
  Result.Own = resultOf(M, LibraryCall(M, Site.Call, Site.Arguments));
  if (Op)
    saved::keep(M, Site.Call, *Op, Site.Arguments, Result.Own);
  return Result;
}

} // namespace torchtidy::model
