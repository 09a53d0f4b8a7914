// RUN: %check_torch %s torch-leaf-inplace %t
//
// A NOLINTNEXTLINE comes into the block with its statement, and so does what stands behind it.

#include <torch/torch.h>

static void marked() {
  auto w = torch::randn({4, 4}, torch::requires_grad());
  // NOLINTNEXTLINE(readability-magic-numbers): the rate
  w -= 0.1; // a step
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on 'w', a trainable tensor
}
// CHECK-FIXES-LABEL: static void marked() {
// CHECK-FIXES: {{^  \{$}}
// CHECK-FIXES-NEXT: {{^    torch::NoGradGuard no_grad;$}}
// CHECK-FIXES-NEXT: {{^    // NOLINTNEXTLINE\(readability-magic-numbers\): the rate$}}
// CHECK-FIXES-NEXT: {{^    w -= 0.1; // a step$}}
// CHECK-FIXES-NEXT: {{^  \}$}}

int main() { marked(); }
