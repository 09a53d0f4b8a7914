#include "Tensors.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/is_pinned.h>

#include <cstring>
#include <optional>

namespace torchtidy::confirm::probe {
namespace {

// As trace::Place.
uint8_t placeOf(const at::Device &Device) {
  return Device.is_cpu() ? 0 : Device.is_cuda() ? 1 : 2;
}

bool isPinned(const at::Tensor &Of) {
  try {
    return Of.is_pinned();
  } catch (...) {
    return false;
  }
}

/// An argument that was passed by value in a register.
template <typename Argument> Argument fromRegister(uint64_t Word) {
  static_assert(sizeof(Argument) <= sizeof(Word), "it is passed otherwise");
  Argument Result;
  std::memcpy(static_cast<void *>(&Result), &Word, sizeof(Result));
  return Result;
}

} // namespace

CopyFacts copyFacts(const void *Self, const void *Source) {
  const at::Tensor &To = *static_cast<const at::Tensor *>(Self);
  const at::Tensor &From = *static_cast<const at::Tensor *>(Source);
  CopyFacts Facts{};
  if (!To.defined() || !From.defined())
    return Facts;
  const at::Device ToDevice = To.device(), FromDevice = From.device();
  Facts.Converts = To.scalar_type() != From.scalar_type();
  const bool Moves = ToDevice != FromDevice;
  // A number in an expression becomes a tensor of the type that is needed.
  if ((!Moves && !Facts.Converts) ||
      From.unsafeGetTensorImpl()->is_wrapped_number() || FromDevice.is_meta() ||
      ToDevice.is_meta())
    return Facts;
  Facts.Counts = true;
  Facts.From = placeOf(FromDevice);
  Facts.To = placeOf(ToDevice);
  if (Moves && FromDevice.is_cpu() != ToDevice.is_cpu())
    Facts.Pinned = isPinned(FromDevice.is_cpu() ? From : To);
  Facts.Bytes = static_cast<uint64_t>(From.numel()) *
                static_cast<uint64_t>(From.element_size());
  return Facts;
}

bool isIdleToCpu(const void *Self, uint64_t Dtype, uint64_t Layout,
                 uint64_t Device) {
  const at::Tensor &From = *static_cast<const at::Tensor *>(Self);
  // Tensor::cpu() asks for the tensor's own options with another device, and
  // to(kCPU) or to(device) for the device alone.
  const auto ToDevice = fromRegister<c10::optional<at::Device>>(Device);
  const auto ToDtype = fromRegister<c10::optional<at::ScalarType>>(Dtype);
  const auto ToLayout = fromRegister<c10::optional<at::Layout>>(Layout);
  return From.defined() && From.device().is_cpu() && ToDevice.has_value() &&
         ToDevice->is_cpu() && ToDtype.has_value() && ToLayout.has_value() &&
         *ToDtype == From.scalar_type();
}

} // namespace torchtidy::confirm::probe
