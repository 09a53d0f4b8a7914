// RUN: %check_torch %s torch-blob-dtype %t
//
// A constant of the program that stands for one of LibTorch's.

#include <torch/torch.h>

using torch::Tensor;

constexpr auto Wire = torch::kFloat;
const auto Wide = torch::kFloat64;
constexpr auto Stored = Wide == torch::kDouble ? torch::kDouble : torch::kFloat;

struct Format {
  static constexpr torch::ScalarType Word = torch::kInt32;
};

Tensor named(std::vector<double> &xs) {
  return torch::from_blob(xs.data(), {4}, Wire).clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'from_blob' reads memory of 'double' as 'kFloat': the values are wrong; pass 'torch::kDouble' [torch-blob-dtype]
}

Tensor byOptions(std::vector<double> &xs) {
  const auto layout = torch::TensorOptions().dtype(Wire).layout(torch::kStrided);
  return torch::from_blob(xs.data(), {2, 2}, layout).clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'from_blob' reads memory of 'double' as 'kFloat'
}

Tensor ofClass(std::vector<int64_t> &xs) {
  return torch::from_blob(xs.data(), {4}, Format::Word).clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'from_blob' reads memory of 'long' as 'kInt'
}

// The right one, and one that is computed.
Tensor right(std::vector<float> &xs, std::vector<double> &ys,
             std::vector<int32_t> &ids) {
  const auto layout = torch::TensorOptions().dtype(Wire);
  return torch::from_blob(xs.data(), {4}, Wire).to(Wide) +
         torch::from_blob(xs.data(), {4}, layout).to(Wide) +
         torch::from_blob(ys.data(), {4}, Wide) +
         torch::from_blob(ys.data(), {4}, Stored) +
         torch::from_blob(ids.data(), {4}, Format::Word);
}

int main() {
  std::vector<double> xs(4);
  std::vector<int64_t> ids(4);
  std::vector<float> ys(4);
  std::vector<int32_t> words(4);
  return static_cast<int>(named(xs).numel() + byOptions(xs).numel() +
                          ofClass(ids).numel() + right(ys, xs, words).numel());
}
