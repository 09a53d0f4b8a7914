// RUN: %check_torch %s torch-sizeof-dtype %t
//
// Sizes of constants, variables and expressions that say an element type.

#include <torch/torch.h>

#include <cstring>
#include <vector>

void copied(torch::Tensor image, std::vector<float> &out) {
  std::memcpy(out.data(), image.data_ptr(), image.numel() * sizeof(torch::kFloat32));
  // CHECK-MESSAGES: :[[@LINE-1]]:61: warning: 'sizeof(torch::kFloat32)' is the size of the enumerator, 1 byte, and an element has 4: sizes and copies come out wrong; write 'sizeof(float)' [torch-sizeof-dtype]
  // CHECK-FIXES: std::memcpy(out.data(), image.data_ptr(), image.numel() * sizeof(float));
}

size_t constants() {
  size_t n = sizeof(at::kHalf);
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: 'sizeof(at::kHalf)' is the size of the enumerator, 1 byte, and an element has 2
  // CHECK-FIXES: size_t n = sizeof(c10::Half);
  n += sizeof(torch::kDouble);
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: 'sizeof(torch::kDouble)'
  // CHECK-FIXES: n += sizeof(double);
  n += sizeof(c10::ScalarType::Long);
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: 'sizeof(c10::ScalarType::Long)'
  // CHECK-FIXES: n += sizeof(int64_t);
  n += sizeof torch::kI32;
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: 'sizeof(torch::kI32)'
  // CHECK-FIXES: n += sizeof(int32_t);
  n += sizeof(at::kComplexFloat) + sizeof(torch::kBFloat16);
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: 'sizeof(at::kComplexFloat)'
  // CHECK-MESSAGES: :[[@LINE-2]]:36: warning: 'sizeof(torch::kBFloat16)'
  // CHECK-FIXES: n += sizeof(c10::complex<float>) + sizeof(c10::BFloat16);
  return n + sizeof(torch::kUInt8); // One byte as well: see strict.cpp.
}

// Where only a constant can stand.
constexpr size_t bytes = 16 * sizeof(torch::kFloat);
// CHECK-MESSAGES: :[[@LINE-1]]:31: warning: 'sizeof(torch::kFloat)'
// CHECK-FIXES: constexpr size_t bytes = 16 * sizeof(float);
struct Frame {
  char data[64 * sizeof(torch::kInt16)];
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'sizeof(torch::kInt16)'
  // CHECK-FIXES: char data[64 * sizeof(int16_t)];
  size_t size = 64 * sizeof(torch::kInt16);
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: 'sizeof(torch::kInt16)'
  // CHECK-FIXES: size_t size = 64 * sizeof(int16_t);
};

size_t variables(torch::Tensor x, torch::Dtype dtype, torch::ScalarType *type,
                 const torch::TensorOptions &options) {
  size_t n = x.numel() * sizeof(dtype);
  // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: 'sizeof(dtype)' is the size of the enumerator, 1 byte, whatever the element type is: sizes and copies come out wrong; write 'c10::elementSize(dtype)'
  // CHECK-FIXES: size_t n = x.numel() * c10::elementSize(dtype);
  n += x.nbytes() / sizeof(x.scalar_type());
  // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: 'sizeof(x.scalar_type())'
  // CHECK-FIXES: n += x.nbytes() / c10::elementSize(x.scalar_type());
  const size_t element = sizeof(x.dtype());
  // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: 'sizeof(x.dtype())' is the size of the 'TypeMeta' object, 2 bytes, whatever the element type is: sizes and copies come out wrong; write 'x.dtype().itemsize()'
  // CHECK-FIXES: const size_t element = x.dtype().itemsize();
  n += x.size(0) * x.size(1) * (sizeof(options.dtype()));
  // CHECK-MESSAGES: :[[@LINE-1]]:33: warning: 'sizeof(options.dtype())'
  // CHECK-FIXES: n += x.size(0) * x.size(1) * (options.dtype().itemsize());
  constexpr auto mine = torch::kFloat;
  std::vector<char> buffer(sizeof(mine));
  // CHECK-MESSAGES: :[[@LINE-1]]:28: warning: 'sizeof(mine)'
  // CHECK-FIXES: std::vector<char> buffer(c10::elementSize(mine));
  return n + element;
}

template <class T> size_t inTemplate(const std::vector<T> &v) {
  return v.size() * sizeof(torch::kFloat32);
  // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: 'sizeof(torch::kFloat32)'
  // CHECK-FIXES: return v.size() * sizeof(float);
}
template size_t inTemplate(const std::vector<int> &);
template size_t inTemplate(const std::vector<float> &);

auto lambda = [](int64_t n) { return n * sizeof(torch::kFloat64); };
// CHECK-MESSAGES: :[[@LINE-1]]:42: warning: 'sizeof(torch::kFloat64)'
// CHECK-FIXES: auto lambda = [](int64_t n) { return n * sizeof(double); };
