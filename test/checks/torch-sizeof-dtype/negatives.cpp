// RUN: %check_torch %s torch-sizeof-dtype %t
//
// Sizes that are meant.

#include <torch/torch.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <vector>

size_t elements(torch::Tensor x, torch::Dtype dtype) {
  return sizeof(float) * x.numel() + c10::elementSize(dtype) * x.numel() +
         x.element_size() + x.dtype().itemsize() + sizeof(at::Half) +
         sizeof(decltype(x.item<double>()));
}

// The type itself, its objects written to a file and read from one.
static_assert(sizeof(c10::ScalarType) == 1);
void write(std::ofstream &out, std::FILE *file, torch::Tensor x, torch::Dtype dtype) {
  out.write(reinterpret_cast<const char *>(&dtype), sizeof(dtype));
  const auto type = x.scalar_type();
  out.write(reinterpret_cast<const char *>(&type), sizeof(x.scalar_type()));
  std::fwrite(&dtype, sizeof(dtype), 1, file);
}
void read(const char *from, torch::Dtype &dtype) {
  std::memcpy(&dtype, from, sizeof(dtype));
  from += sizeof(dtype);
}
struct Header {
  torch::Dtype dtype;
  int64_t dims;
};
size_t sizeOf(const Header &header, torch::Tensor x) {
  return sizeof(header.dtype) + sizeof(header.dims) + sizeof(x.scalar_type()) + sizeof(x.dim());
}
void manyOf(std::ofstream &out, const std::vector<torch::Dtype> &dtypes, const Header *headers) {
  out.write(reinterpret_cast<const char *>(dtypes.data()), dtypes.size() * sizeof(dtypes[0]));
  out.write(reinterpret_cast<const char *>(headers), 4 * sizeof(*headers));
}
size_t count() {
  torch::Dtype all[] = {torch::kFloat, torch::kHalf};
  return sizeof(all) / sizeof(all[0]) + sizeof(all) / sizeof(*all);
}
uint64_t key(torch::Dtype dtype, torch::Tensor x) {
  uint64_t result = x.dim();
  result = result << (8 * sizeof(dtype)) | static_cast<uint8_t>(dtype);
  return result;
}

// Any object of which there are several.
template <class T> size_t room(const T &value, size_t n) { return n * sizeof(value); }
template size_t room(const torch::Dtype &, size_t);

// A user's own.
enum class ScalarType : char { A };
namespace mine {
enum class ScalarType : char { A };
constexpr auto kFloat32 = ScalarType::A;
}
size_t own(size_t n, ScalarType type) {
  return n * sizeof(mine::kFloat32) + n * sizeof(type) + n * sizeof(ScalarType::A);
}
