// RUN: %check_torch %s torch-sizeof-dtype %t
//
// The bytes of a tensor, counted in another type than it has.

#include <torch/torch.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

using torch::Tensor;

void copied(std::vector<char> &to) {
  const Tensor x = torch::rand({64, 8}).to(torch::kHalf);
  std::memcpy(to.data(), x.data_ptr(), x.numel() * sizeof(float));
  // CHECK-MESSAGES: :[[@LINE-1]]:52: warning: an element of 'x', which is 'kHalf' here, has 2 bytes, and not 4: memory behind the tensor is read or written; write 'x.nbytes()' [torch-sizeof-dtype]
  std::memcpy(to.data(), x.data_ptr(), x.numel() * sizeof(at::Half));
  std::memcpy(to.data(), x.data_ptr(), x.nbytes());
}

// Through a function, a constant, and a stream.
void save(const std::string &path, const Tensor &features) {
  std::ofstream out(path, std::ios::binary);
  const auto bytes = features.numel() * sizeof(float);
  // CHECK-MESSAGES: :[[@LINE-1]]:41: warning: an element of 'features', which is 'kDouble' here, has 8 bytes, and not 4: only a part of the tensor is copied; write 'features.nbytes()'
  out.write(static_cast<const char *>(features.data_ptr()), static_cast<std::streamsize>(bytes));
}
void saves(const Tensor &x) { save("features", x.to(torch::kDouble).cpu().contiguous()); }

// A size, and how many.
void writes(std::FILE *file) {
  Tensor labels = torch::zeros({64}, torch::kLong);
  std::fwrite(labels.data_ptr(), sizeof(int), labels.numel(), file);
  // CHECK-MESSAGES: :[[@LINE-1]]:34: warning: an element of 'labels', which is 'kLong' here, has 8 bytes, and not 4: only a part
  std::fwrite(labels.data_ptr(), sizeof(int64_t), labels.numel(), file);
}

// What is known of the type is not enough: of some tensors, of a part, in words of one's own, of another
// tensor, for another buffer.
void pack(float *to, const void *from, size_t bytes);
void quiet(std::vector<char> &to, std::vector<float> &numbers, const Tensor &given, bool half) {
  std::memcpy(to.data(), given.data_ptr(), given.numel() * sizeof(float));
  Tensor some = half ? torch::rand({8}).to(torch::kHalf) : torch::rand({8});
  std::memcpy(to.data(), some.data_ptr(), some.numel() * sizeof(float));
  const Tensor x = torch::rand({64, 8}).to(torch::kHalf), y = torch::rand({64});
  std::memcpy(to.data(), x.data_ptr(), x.numel() / 2 * sizeof(float));
  std::memcpy(to.data(), x.data_ptr(), 2 * x.numel() * sizeof(uint8_t));
  std::memcpy(to.data(), x.data_ptr(), y.numel() * sizeof(float));
  to.resize(x.numel() * sizeof(float));
  pack(numbers.data(), x.data_ptr(), x.numel() * sizeof(float));
  std::memcpy(to.data(), x.data_ptr(), x.numel() * sizeof(uint16_t));
}
