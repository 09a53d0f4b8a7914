#include "pretend.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/CachingHostAllocator.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/ops/as_strided_native.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/DeviceType.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace pretend {
namespace {

constexpr auto type = c10::DeviceType::PrivateUse1;
const c10::Device only(type, 0);

// There is one of it, and one stream.
struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return pretend::type; }
  c10::Device exchangeDevice(c10::Device) const override { return only; }
  c10::Device getDevice() const override { return only; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device device) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, device);
  }
  c10::Stream exchangeStream(c10::Stream stream) const noexcept override { return stream; }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

// Keeps what is freed for the next tensor of that size, as the allocator of CUDA does: only
// what it does not have comes from the system.
struct Memory final : c10::DeviceAllocator {
  c10::DataPtr allocate(size_t bytes) override {
    const size_t size = std::max<size_t>(bytes, 1);
    const std::lock_guard<std::mutex> lock(mutex);
    std::vector<void *> &kept = cache[size];
    void *data = nullptr;
    if (kept.empty()) {
      data = std::malloc(size);
      sizes[data] = size;
      ++requests;
    } else {
      data = kept.back();
      kept.pop_back();
    }
    return {data, data, &Memory::keep, only};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &Memory::keep; }
  void copy_data(void *to, const void *from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }

  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override {
    const std::lock_guard<std::mutex> lock(mutex);
    for (auto &[size, kept] : cache)
      for (void *data : kept) {
        sizes.erase(data);
        std::free(data);
      }
    cache.clear();
  }
  void recordStream(const c10::DataPtr &, c10::Stream) override {}
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex) override {
    return {};
  }
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex) override {}

  static void keep(void *data);

  std::mutex mutex;
  std::map<size_t, std::vector<void *>> cache;
  std::map<void *, size_t> sizes;
  int64_t requests = 0;
};

// Tensors that a static variable holds may be freed after it would be gone.
Memory &memory() {
  static Memory &only = *new Memory;
  return only;
}

void Memory::keep(void *data) {
  Memory &all = memory();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.cache[all.sizes[data]].push_back(data);
}

// Of the host, for copies that nobody waits for.
struct PinnedMemory final : at::HostAllocator {
  c10::DataPtr allocate(size_t bytes) override {
    void *data = std::calloc(std::max<size_t>(bytes, 1), 1);
    const std::lock_guard<std::mutex> lock(mutex);
    pinned.insert(data);
    return {data, data, &PinnedMemory::release, c10::DeviceType::CPU};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &PinnedMemory::release; }
  void copy_data(void *to, const void *from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
  bool record_event(void *, void *, c10::Stream) override { return true; }
  void empty_cache() override {}
  at::HostStats get_stats() override { return {}; }
  void reset_accumulated_stats() override {}
  void reset_peak_stats() override {}

  static void release(void *data);
  bool has(const void *data) {
    const std::lock_guard<std::mutex> lock(mutex);
    return pinned.count(data) != 0;
  }

  std::mutex mutex;
  std::set<const void *> pinned;
};

PinnedMemory &pinned_memory() {
  static PinnedMemory &only = *new PinnedMemory;
  return only;
}

void PinnedMemory::release(void *data) {
  PinnedMemory &all = pinned_memory();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.pinned.erase(data);
  std::free(data);
}

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  bool isPinnedPtr(const void *data) const override { return pinned_memory().has(data); }
  c10::Allocator *getPinnedMemoryAllocator() const override { return &pinned_memory(); }
} hooks;

const c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);

at::Tensor empty(c10::IntArrayRef sizes, std::optional<c10::ScalarType> dtype,
                 std::optional<c10::Layout>, std::optional<c10::Device>, std::optional<bool>,
                 std::optional<c10::MemoryFormat> format) {
  return at::detail::empty_generic(sizes, &memory(), keys, dtype.value_or(c10::kFloat), format);
}

at::Tensor empty_strided(c10::IntArrayRef sizes, c10::IntArrayRef strides,
                         std::optional<c10::ScalarType> dtype, std::optional<c10::Layout>,
                         std::optional<c10::Device>, std::optional<bool>) {
  return at::detail::empty_strided_generic(sizes, strides, &memory(), keys,
                                           dtype.value_or(c10::kFloat));
}

at::Tensor as_strided(const at::Tensor &self, c10::IntArrayRef sizes, c10::IntArrayRef strides,
                      std::optional<int64_t> offset) {
  return at::native::as_strided_tensorimpl(self, sizes, strides, offset);
}

at::Tensor &zero_(at::Tensor &self) {
  std::memset(self.mutable_data_ptr(), 0, self.nbytes());
  return self;
}

template <class From, class To> void convert(const at::Tensor &from, const at::Tensor &to) {
  const From *source = from.const_data_ptr<From>();
  To *target = to.mutable_data_ptr<To>();
  for (int64_t i = 0; i < from.numel(); ++i)
    target[i] = static_cast<To>(source[i]);
}

template <class From> void convert_from(const at::Tensor &from, const at::Tensor &to) {
  switch (to.scalar_type()) {
  case c10::kByte:
    return convert<From, uint8_t>(from, to);
  case c10::kLong:
    return convert<From, int64_t>(from, to);
  case c10::kDouble:
    return convert<From, double>(from, to);
  default:
    return convert<From, float>(from, to);
  }
}

void copy_now(const at::Tensor &from, const at::Tensor &to) {
  switch (from.scalar_type()) {
  case c10::kByte:
    convert_from<uint8_t>(from, to);
    break;
  case c10::kLong:
    convert_from<int64_t>(from, to);
    break;
  case c10::kDouble:
    convert_from<double>(from, to);
    break;
  default:
    convert_from<float>(from, to);
  }
}

// Copies to the host that the device has not made yet: from, to.
std::vector<std::pair<at::Tensor, at::Tensor>> later;

at::Tensor copy_from(const at::Tensor &from, const at::Tensor &to, bool non_blocking) {
  TORCH_CHECK(from.is_contiguous() && to.is_contiguous() && from.numel() == to.numel(),
              "the pretended device copies whole tensors");
  if (non_blocking && to.is_cpu()) {
    later.emplace_back(from, to);
    return to;
  }
  synchronize();
  copy_now(from, to);
  return to;
}

} // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", empty_strided);
  m.impl("as_strided", as_strided);
  m.impl("zero_", zero_);
  m.impl("_copy_from", copy_from);
}

torch::Device accelerator() {
  static const bool isRegistered = [] {
    c10::register_privateuse1_backend("pretended");
    at::RegisterPrivateUse1HooksInterface(&hooks);
    at::setHostAllocator(type, &pinned_memory());
    c10::SetAllocator(type, &memory());
    return true;
  }();
  (void)isRegistered;
  return only;
}

void synchronize() {
  for (const auto &[from, to] : std::exchange(later, {}))
    copy_now(from, to);
}

int64_t pending() { return static_cast<int64_t>(later.size()); }

int64_t memory_requests() {
  const std::lock_guard<std::mutex> lock(memory().mutex);
  return memory().requests;
}

} // namespace pretend
