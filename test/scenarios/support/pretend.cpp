#include "pretend.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/as_strided_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <cstdlib>
#include <cstring>

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

struct Memory final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    void *data = std::malloc(bytes);
    return {data, data, &std::free, only};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &std::free; }
  void copy_data(void *to, const void *from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
} memory;

const c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);

at::Tensor empty(c10::IntArrayRef sizes, std::optional<c10::ScalarType> dtype,
                 std::optional<c10::Layout>, std::optional<c10::Device>, std::optional<bool>,
                 std::optional<c10::MemoryFormat> format) {
  return at::detail::empty_generic(sizes, &memory, keys, dtype.value_or(c10::kFloat), format);
}

at::Tensor empty_strided(c10::IntArrayRef sizes, c10::IntArrayRef strides,
                         std::optional<c10::ScalarType> dtype, std::optional<c10::Layout>,
                         std::optional<c10::Device>, std::optional<bool>) {
  return at::detail::empty_strided_generic(sizes, strides, &memory, keys,
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

at::Tensor copy_from(const at::Tensor &from, const at::Tensor &to, bool) {
  TORCH_CHECK(from.is_contiguous() && to.is_contiguous() && from.numel() == to.numel(),
              "the pretended device copies whole tensors");
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

torch::Device accelerator() { return only; }

} // namespace pretend
