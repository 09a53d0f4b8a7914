// RUN: %check_torch %s torch-redundant-transfer %t
//
// clone() of what to() returns of a tensor that one variable has, which nothing
// else mentions; and to() where a copy was wanted.

#include <torch/torch.h>

using torch::Tensor;

std::vector<float> profile(const Tensor &scores) {
  Tensor lines = scores.mean(1);
  Tensor host = lines.to(torch::kCPU).clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:39: warning: 'clone' copies the tensor once more: what 'to' returns here is nobody else's; leave 'clone' out [torch-redundant-transfer]
  const float *p = host.data_ptr<float>();
  return std::vector<float>(p, p + host.numel());
}
Tensor toDevice(const Tensor &x, torch::Device device) {
  const auto sum = x + 1;
  return sum.to(device).clone().mul_(2);
  // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: 'clone' copies the tensor once more
}

// Somebody else has it, or goes on with it.
Tensor usedAgain(const Tensor &x) {
  auto sum = x + 1;
  auto host = sum.to(torch::kCPU).clone();
  return host.add_(sum);
}
Tensor view(const Tensor &x) {
  auto row = x[0];
  return row.to(torch::kCPU).clone();
}
Tensor given(Tensor x) { return x.to(torch::kCPU).clone(); }
std::vector<Tensor> eachTime(const Tensor &x) {
  std::vector<Tensor> all;
  auto sum = x + 1;
  for (int i = 0; i < 3; ++i)
    all.push_back(sum.to(torch::kCPU).clone().add_(i));
  return all;
}
// The graph needs it as it is.
Tensor saved(torch::Device device) {
  auto w = torch::rand({64, 64}, torch::requires_grad());
  auto y = torch::exp(w);
  return y.to(device).clone().add_(1);
}

// What is missing here is a copy: the memory ends with the function.
Tensor load(int64_t n) {
  std::vector<float> numbers(n, 1.0f);
  auto wave = torch::from_blob(numbers.data(), {n}, torch::kFloat32);
  return wave.to(torch::kFloat32);
}
double inTime(int64_t n) {
  std::vector<float> numbers(n, 1.0f);
  auto wave = torch::from_blob(numbers.data(), {n}, torch::kFloat32);
  return wave.to(torch::kFloat32).sum().item<double>();
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: the tensor has that type already, and 'to' returns it as it is; leave the call out
}
