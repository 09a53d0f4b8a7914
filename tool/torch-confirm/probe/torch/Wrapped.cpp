// Tensors that are laid over memory of the program's, by from_blob(): whether
// they are still there. Their storages are held by weak references, so that the
// address of one that is gone is no other one's.

#include "Tensors.h"

#include <ATen/core/Tensor.h>

namespace torchtidy::confirm::probe {
namespace {

using WeakStorage = c10::weak_intrusive_ptr<
    c10::StorageImpl,
    c10::detail::intrusive_target_default_null_type<c10::StorageImpl>>;

/// Never destroyed. The other half locks it.
std::optional<WeakStorage> *Slots;

} // namespace

bool wrapped(const void *Tensor, uint32_t Slot, WrappedFacts *Facts) {
  const at::Tensor &Of = *static_cast<const at::Tensor *>(Tensor);
  if (!Of.defined() || !Of.has_storage() || !Of.device().is_cpu() ||
      Of.numel() == 0 || !Of.storage().data())
    return false;
  if (!Slots)
    Slots = new std::optional<WeakStorage>[WrapSlots];
  Slots[Slot].emplace(Of.storage().getWeakStorageImpl());
  Facts->Storage = Of.storage().unsafeGetStorageImpl();
  Facts->Begin = reinterpret_cast<uintptr_t>(Of.storage().data());
  Facts->Bytes = Of.storage().nbytes();
  Facts->Elements = static_cast<uint64_t>(Of.numel());
  Facts->ElementSize = static_cast<uint64_t>(Of.element_size());
  return true;
}

bool isWrapAlive(uint32_t Slot, uintptr_t Begin) {
  if (!Slots || !Slots[Slot] || Slots[Slot]->use_count() == 0)
    return false;
  // It may have been given other memory.
  const c10::StorageImpl *Of = Slots[Slot]->_unsafe_get_target();
  return reinterpret_cast<uintptr_t>(Of->data()) == Begin;
}

const void *storageOf(const void *Tensor) {
  const at::Tensor &Of = *static_cast<const at::Tensor *>(Tensor);
  return Of.defined() && Of.has_storage() ? Of.storage().unsafeGetStorageImpl()
                                          : nullptr;
}

const void *memoryOfTensor(const void *Tensor) {
  const at::Tensor &Of = *static_cast<const at::Tensor *>(Tensor);
  return Of.defined() && Of.has_storage() ? Of.storage().data() : nullptr;
}

} // namespace torchtidy::confirm::probe
