#include "queries/devices/Transfers.h"
#include "torch/Api.h"
#include "torch/Options.h"

using namespace clang;

namespace torchtidy::model {

bool isThereAlready(const TransferEvent &Transfer) {
  const Value &From = Transfer.Input, &To = Transfer.Result;
  if (Transfer.MovesDevice) {
    if (From.OnDevice.get() && To.OnDevice.get())
      return *From.OnDevice.get() == *To.OnDevice.get();
    return From.DeviceFrom.get() && To.DeviceFrom.get() &&
           *From.DeviceFrom.get() == *To.DeviceFrom.get();
  }
  return From.Scalar.get() && To.Scalar.get() &&
         *From.Scalar.get() == *To.Scalar.get();
}

bool mayConvert(const CallExpr *Call) {
  const torch::Operation *Op = torch::classify(Call).Op;
  if (Op && torch::transferOf(*Op) == torch::Transfer::ToType)
    return true;
  return llvm::any_of(Call->arguments(), [](const Expr *Argument) {
    return !isa<CXXDefaultArgExpr>(Argument) &&
           !torch::saysDeviceOnly(
               Argument->IgnoreUnlessSpelledInSource()->getType());
  });
}

} // namespace torchtidy::model
