// Element types, sizes and devices of the tensors that an operation is given.

#include "Tensors.h"

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>

#include <optional>

namespace torchtidy::confirm::probe {
namespace {

/// The first ones say what an operation works on; cat() may have thousands.
constexpr int MostTensors = 4;

/// Calls Do with the first tensors; false ends it.
template <typename Action>
void forFirst(c10::ArrayRef<const c10::IValue> Arguments, const Action &Do) {
  int Left = MostTensors;
  const auto One = [&](const at::Tensor &Each) {
    if (Each.defined()) {
      Do(Each);
      --Left;
    }
  };
  for (const c10::IValue &Each : Arguments) {
    if (Left == 0)
      return;
    if (Each.isTensor()) {
      One(Each.toTensor());
    } else if (Each.isTensorList()) {
      const auto All = Each.toTensorList();
      for (size_t I = 0; I < All.size() && Left > 0; ++I)
        One(All.get(I));
    }
  }
}

/// What an operation without tensors makes one of: empty({64, 3}).
std::optional<c10::List<int64_t>>
sizesIn(c10::ArrayRef<const c10::IValue> Arguments) {
  for (const c10::IValue &Each : Arguments)
    if (Each.isIntList())
      return Each.toIntList();
  return std::nullopt;
}

template <typename Sizes> std::string textOf(const Sizes &All) {
  std::string Result = "[";
  for (size_t I = 0; I < All.size(); ++I)
    Result += (I ? "," : "") + std::to_string(static_cast<int64_t>(All[I]));
  return Result + "]";
}

/// What is nested or symbolic has no sizes.
bool hasSizes(const at::Tensor &Of) {
  return Of.layout() == at::kStrided && !Of.is_nested() &&
         !Of.unsafeGetTensorImpl()->has_symbolic_sizes_strides();
}

} // namespace

void forTensors(c10::ArrayRef<const c10::IValue> Arguments,
                const std::function<void(const at::Tensor &)> &Do) {
  forFirst(Arguments, Do);
}

uint64_t shapeHash(c10::ArrayRef<const c10::IValue> Arguments,
                   uint32_t &Types) {
  uint64_t Hash = 0;
  const auto Mix = [&](uint64_t Word) {
    Hash = (Hash ^ Word) * 0x9e3779b97f4a7c15ull;
    Hash ^= Hash >> 29;
  };
  forFirst(Arguments, [&](const at::Tensor &Each) {
    // Begins a tensor, so that sizes of two are not those of one.
    const auto Type = static_cast<uint32_t>(Each.scalar_type());
    Mix(0x100 + Type);
    if (Type < 32 && Each.dim() > 0)
      Types |= 1u << Type;
    Mix(static_cast<uint64_t>(Each.device().type()) << 8 ^
        static_cast<uint8_t>(Each.device().index()));
    if (hasSizes(Each))
      for (const int64_t Size : Each.sizes())
        Mix(static_cast<uint64_t>(Size));
  });
  if (Hash)
    return Hash;
  if (const auto Sizes = sizesIn(Arguments)) {
    Mix(0x200);
    for (size_t I = 0; I < Sizes->size(); ++I)
      Mix(static_cast<uint64_t>(Sizes->get(I)));
  }
  return Hash;
}

const void *memoryOfElement(c10::ArrayRef<const c10::IValue> Arguments) {
  if (Arguments.empty() || !Arguments[0].isTensor())
    return nullptr;
  const at::Tensor &Of = Arguments[0].toTensor();
  return Of.defined() && Of.numel() == 1 && Of.has_storage() &&
                 Of.storage().nbytes() > Of.element_size()
             ? Of.storage().data()
             : nullptr;
}

void forMemory(c10::ArrayRef<const c10::IValue> Arguments,
               const std::function<void(const void *)> &Do) {
  forFirst(Arguments, [&](const at::Tensor &Each) {
    if (Each.has_storage())
      Do(Each.storage().data());
  });
}

void forStorages(c10::ArrayRef<const c10::IValue> Arguments,
                 void (*Do)(const void *)) {
  forFirst(Arguments, [&](const at::Tensor &Each) {
    if (Each.has_storage())
      Do(Each.storage().unsafeGetStorageImpl());
  });
}

std::string shapeText(c10::ArrayRef<const c10::IValue> Arguments) {
  std::string Result, Device;
  bool IsOnOne = true;
  forFirst(Arguments, [&](const at::Tensor &Each) {
    const std::string Here = Each.device().str();
    IsOnOne &= Device.empty() || Device == Here;
    Device = Here;
  });
  forFirst(Arguments, [&](const at::Tensor &Each) {
    Result += (Result.empty() ? "" : ", ") +
              std::string(toString(Each.scalar_type()));
    if (hasSizes(Each))
      Result += textOf(Each.sizes());
    if (!IsOnOne)
      Result += " on " + Each.device().str();
  });
  if (Device.empty()) {
    const auto Sizes = sizesIn(Arguments);
    return Sizes ? textOf(Sizes->vec()) : "";
  }
  return IsOnOne ? Result + " on " + Device : Result;
}

} // namespace torchtidy::confirm::probe
