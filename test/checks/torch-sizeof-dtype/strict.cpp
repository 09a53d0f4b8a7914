// RUN: %check_torch %s torch-sizeof-dtype %t -- -config="{CheckOptions: {torch-sizeof-dtype.Strict: true}}"
//
// An element of this type has as many bytes as the enumerator: nothing comes out wrong, and Strict
// tells it.

#include <torch/torch.h>

size_t bytes(const torch::Tensor &mask) {
  return mask.numel() * sizeof(torch::kU8);
  // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: 'sizeof(torch::kU8)' is the size of the enumerator, 1 byte, which only happens to be that of an element; write 'sizeof(uint8_t)'
  // CHECK-FIXES: return mask.numel() * sizeof(uint8_t);
}

size_t others(const torch::Tensor &mask) {
  return mask.numel() * sizeof(torch::kBool);
  // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: 'sizeof(torch::kBool)' is the size of the enumerator, 1 byte, which only happens to be
  // CHECK-FIXES: return mask.numel() * sizeof(bool);
}
