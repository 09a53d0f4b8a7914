// RUN: %check_torch %s torch-device-comparison %t -still-warns
//
// A macro is not rewritten.

#include <torch/torch.h>

#define ON_GPU(x) ((x).device() == torch::kCUDA)

bool onGpu(torch::Tensor x) {
  return ON_GPU(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: this comparison is false for every tensor
}
