// RUN: %check_torch %s torch-sizeof-dtype %t -still-warns
//
// A macro is not rewritten.

#include <torch/torch.h>

#define BYTES(n) ((n) * sizeof(torch::kFloat32))

size_t bytes(torch::Tensor x) {
  return BYTES(x.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: this 'sizeof' is the size of the enumerator
}
