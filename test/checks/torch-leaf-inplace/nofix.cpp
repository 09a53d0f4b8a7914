// RUN: %check_torch %s torch-leaf-inplace %t -still-warns
//
// Where a block of its own would not do, or not help, there is no fix.

#include <torch/torch.h>

using torch::Tensor;

static Tensor weight() { return torch::randn({4, 4}, torch::requires_grad()); }

static void declared() {
  auto w = weight();
  // Its variable would end with a block: no fix.
  auto y = w.add_(1);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: in-place operation on 'w', a trainable tensor
}

#define SHRINK(t) t.mul_(0.9)
static void inMacro() {
  auto w = weight();
  SHRINK(w);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: in-place operation on 'w', a trainable tensor
}

static void resized() {
  auto w = weight();
  // It throws under a guard, too.
  w.resize_({16});
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on 'w', a trainable tensor, throws "cannot resize variables that require grad", under a NoGradGuard too; resize what 'data()' returns
}
int main() {
  declared();
  inMacro();
  resized();
}
