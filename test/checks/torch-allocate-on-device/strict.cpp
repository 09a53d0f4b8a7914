// RUN: %check_torch %s torch-allocate-on-device %t -- -config="{CheckOptions: {torch-allocate-on-device.Strict: true}}"
//
// With Strict the check also speaks of what nothing in the file repeats. See also unrepeated.cpp.

#include <torch/torch.h>

torch::Tensor grid(int64_t n, torch::Device device) {
  auto result = torch::zeros({n, n}).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::zeros' makes this tensor on the CPU
  // CHECK-FIXES: auto result = torch::zeros({n, n}, device);
  return result;
}

// It is made once.
torch::Tensor table(int64_t n) {
  static const torch::Tensor Result = torch::zeros({n, n}).to(torch::kCUDA);
  return Result;
}
