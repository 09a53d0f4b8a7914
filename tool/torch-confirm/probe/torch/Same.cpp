// Whether a place is given the same tensor again, with the same contents: a
// copy of it could have been kept.
//
// A tensor that is gone leaves its address to another one, so the storage is
// held by a weak reference, which keeps a few words of it and none of its data.
// Optimizers write through data(), past the version counter; so some of the
// contents are compared as well, where the host can read them.

#include "Tensors.h"

#include <ATen/core/Tensor.h>

#include <cstring>
#include <mutex>
#include <unordered_map>

namespace torchtidy::confirm::probe {
namespace {

using Storage = c10::weak_intrusive_ptr<
    c10::StorageImpl,
    c10::detail::intrusive_target_default_null_type<c10::StorageImpl>>;

struct Before {
  Storage Memory;
  uint64_t Contents = 0;
};

/// Never destroyed: operations may run while the program ends.
struct SameTensors {
  std::mutex Mutex;
  std::unordered_map<uint64_t, Before> ByKey;
};
SameTensors *Same;

void mixWord(uint64_t &Hash, uint64_t Word) {
  Hash = (Hash ^ Word) * 0x9e3779b97f4a7c15ull;
  Hash ^= Hash >> 29;
}

/// Of bytes that are there: all of a small tensor, some of a large one.
void mixSome(uint64_t &Hash, const at::Tensor &Of) {
  // data_ptr() would give a lazy copy memory of its own.
  const auto *Begin = static_cast<const char *>(Of.storage().data());
  if (!Of.device().is_cpu() || !Of.is_non_overlapping_and_dense() ||
      Of.numel() == 0 || !Begin)
    return;
  const char *At =
      Begin + Of.storage_offset() * static_cast<int64_t>(Of.element_size());
  const size_t Size =
      static_cast<size_t>(Of.numel()) * static_cast<size_t>(Of.element_size());
  constexpr size_t Most = 512;
  const size_t Words = Size / sizeof(uint64_t);
  const size_t Stride = Words > Most ? Words / Most : 1;
  for (size_t I = 0; I < Words; I += Stride) {
    uint64_t Word;
    std::memcpy(&Word, At + I * sizeof(Word), sizeof(Word));
    mixWord(Hash, Word);
  }
  for (size_t I = Words * sizeof(uint64_t); I < Size; ++I)
    mixWord(Hash, static_cast<unsigned char>(At[I]));
}

} // namespace

uint64_t contentsOf(const at::Tensor &Of) {
  uint64_t Hash = static_cast<uint64_t>(Of.storage_offset()) + 1;
  for (const int64_t Size : Of.sizes())
    mixWord(Hash, static_cast<uint64_t>(Size));
  for (const int64_t Stride : Of.strides())
    mixWord(Hash, static_cast<uint64_t>(Stride));
  mixWord(Hash, static_cast<uint64_t>(Of.scalar_type()));
  if (!Of.is_inference())
    mixWord(Hash, static_cast<uint64_t>(Of._version()));
  mixSome(Hash, Of);
  return Hash;
}

void sameForked() {
  // Another thread of the parent may have been in here.
  if (Same)
    Same = new SameTensors;
}

bool isSameAsBefore(uint64_t Key, const void *Tensor) {
  const at::Tensor &Of = *static_cast<const at::Tensor *>(Tensor);
  if (!Of.defined() || !Of.has_storage() || Of.layout() != at::kStrided ||
      Of.unsafeGetTensorImpl()->has_symbolic_sizes_strides())
    return false;
  static std::once_flag Once;
  std::call_once(Once, [] { Same = new SameTensors; });
  const uint64_t Contents = contentsOf(Of);
  const auto Memory = Of.storage().getWeakStorageImpl();
  std::lock_guard<std::mutex> Lock(Same->Mutex);
  const auto [Found, IsNew] =
      Same->ByKey.try_emplace(Key, Before{Storage(Memory), Contents});
  if (IsNew)
    return false;
  const bool IsSame =
      Found->second.Contents == Contents && Found->second.Memory == Memory;
  Found->second = {Storage(Memory), Contents};
  return IsSame;
}

} // namespace torchtidy::confirm::probe
