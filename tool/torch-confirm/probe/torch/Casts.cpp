// Copies in half precision that autocast keeps of weights: whether a weight was
// changed since. That its contents are others says so, for optimizers write
// past the version counter.

#include "Tensors.h"

#include <ATen/core/Tensor.h>

#include <mutex>
#include <unordered_map>

namespace torchtidy::confirm::probe {

namespace {

using WeakTensor =
    c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;

struct Cast {
  WeakTensor Of, Copy;
  uint64_t Contents;
};

struct AllCasts {
  std::mutex Mutex;
  std::unordered_map<const void *, Cast> ByTensor;
};

AllCasts &casts() {
  // Never destroyed.
  static AllCasts *All = new AllCasts;
  return *All;
}

constexpr size_t MostCasts = 4096;

} // namespace

void castGiven(const void *Of, const void *Copy) {
  const at::Tensor &From = *static_cast<const at::Tensor *>(Of);
  const at::Tensor &To = *static_cast<const at::Tensor *>(Copy);
  // Those that autocast may keep (S: ATen/autocast_mode.cpp).
  if (!From.defined() || !To.defined() || From.is_same(To) ||
      !From.requires_grad() || !From.is_leaf() || From.is_view() ||
      !From.has_storage())
    return;
  const uint64_t Contents = contentsOf(From);
  AllCasts &All = casts();
  bool IsStale = false;
  {
    std::lock_guard<std::mutex> Lock(All.Mutex);
    if (All.ByTensor.size() >= MostCasts)
      All.ByTensor.clear();
    Cast Now{WeakTensor(From.getIntrusivePtr()),
             WeakTensor(To.getIntrusivePtr()), Contents};
    const auto [Found, IsNew] =
        All.ByTensor.try_emplace(From.unsafeGetTensorImpl(), Now);
    if (!IsNew && Found->second.Of == Now.Of &&
        Found->second.Copy == Now.Copy) {
      if (Found->second.Contents == Contents)
        return;
      IsStale = true;
    } else {
      Found->second = std::move(Now);
    }
  }
  if (const uint32_t Step = steppedAt(From))
    tellCast(Step, IsStale);
}

} // namespace torchtidy::confirm::probe
