// Which torch::Device an expression makes, and whether it has an index.
#include "ast/Expressions.h"
#include "model/domains/device/Transfer.h"
#include "model/machine/Machine.h"
#include "torch/Devices.h"
#include "torch/Options.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model::device {

/// "cuda", "cuda:0", gpu ? "cuda" : "cpu".
static Placement ofText(const Expr *Text) {
  Placement Result;
  Text = ast::stripCopies(Text);
  if (const auto *Choice = dyn_cast<ConditionalOperator>(Text)) {
    Result = ofText(Choice->getTrueExpr());
    Result.join(ofText(Choice->getFalseExpr()));
    return Result;
  }
  const std::optional<torch::NamedDevice> Named = torch::namedDevice(Text);
  Result.OnDevice = Named ? Devices(deviceOf(Named->Kind)) : Devices::unknown();
  if (!Named || Named->HasIndex)
    Result.Index = Known<DeviceIndex>::unknown();
  else if (Named->Kind != torch::DeviceKind::CPU)
    Result.Index = Known<DeviceIndex>(DeviceIndex::None);
  return Result;
}

void describeMade(llvm::ArrayRef<const Expr *> Arguments, Value &Result) {
  if (Arguments.empty())
    return;
  const bool SaysIndex =
      Arguments.size() > 1 && !isa<CXXDefaultArgExpr>(Arguments[1]);
  if (torch::isDeviceType(Arguments[0]->getType())) {
    // A tensor's type alone; one that is not known.
    if (SaysIndex || Result.Index.get() == DeviceIndex::OfTensor ||
        (Result.Index.isEmpty() && Result.OnDevice.get() != Device::CPU))
      Result.Index = Known<DeviceIndex>::unknown();
    return;
  }
  const Placement Said = ofText(Arguments[0]);
  Result.OnDevice = Said.OnDevice;
  Result.Index = Said.Index;
}

Known<DeviceIndex> indexOfReturned(const CallExpr *Call, const Value &Joined) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  const bool IsKnown = !Joined.Index.isEmpty() || (!Joined.OnDevice.isEmpty() &&
                                                   !Joined.OnDevice.isOpen());
  // Code that cannot be seen; a guard's device.
  if (!IsKnown && (!Callee || !torch::isLibTorch(Callee) ||
                   torch::isDevice(Call->getType())))
    return Known<DeviceIndex>::unknown();
  if (Joined.Index.isEmpty() || !Callee || !torch::isLibTorch(Callee))
    return Joined.Index;
  const auto Arguments = ast::argumentsOf(Call);
  const auto Written = llvm::count_if(Arguments, [](const Expr *Argument) {
    return !isa<CXXDefaultArgExpr>(Argument);
  });
  return torch::keepsDeviceIndex(Callee) && Written <= 1
             ? Joined.Index
             : Known<DeviceIndex>::unknown();
}

void loadIndex(QualType Type, Value &Loaded) {
  if (Loaded.Index.isEmpty() && Loaded.OnDevice.get() != Device::CPU &&
      torch::maySayDevice(Type))
    Loaded.Index = Known<DeviceIndex>::unknown();
}

std::optional<bool> areEqual(const Placement &Left, const Placement &Right,
                             bool AreTypes) {
  if (Left.OnDevice.isApartFrom(Right.OnDevice))
    return false;
  const std::optional<Device> Same = Left.OnDevice.get();
  // Other is several kinds.
  if (!Same || Same != Right.OnDevice.get() || Same == Device::Other)
    return std::nullopt;
  const bool HaveNone = Left.Index.get() == DeviceIndex::None &&
                        Right.Index.get() == DeviceIndex::None;
  const bool AreCpu =
      Same == Device::CPU && Left.Index.isEmpty() && Right.Index.isEmpty();
  return AreTypes || HaveNone || AreCpu ? std::optional(true) : std::nullopt;
}

std::optional<bool> isOn(const Placement &Where, torch::DeviceKind Kind) {
  return areEqual(Where, Placement::on(deviceOf(Kind)), /*AreTypes=*/true);
}

void forgetIndex(QualType Type, Value &Member) {
  if (!Member.Index.isEmpty() && !Type.isNull() && !Type.isConstQualified() &&
      torch::maySayDevice(Type))
    Member.Index = Known<DeviceIndex>::unknown();
}

void loseIndices(Machine &M, PlaceId P) {
  M.forEachWithin(P, [](Value &V) {
    if (!V.Index.isEmpty())
      V.Index = Known<DeviceIndex>::unknown();
  });
}

} // namespace torchtidy::model::device
