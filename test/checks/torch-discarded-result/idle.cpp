// RUN: %check_torch %s torch-discarded-result %t
//
// What to() would return is the tensor itself: nothing is lost by dropping it.

#include <torch/torch.h>

using torch::Tensor;

Tensor label(int number) {
  Tensor label = torch::full({1}, number);
  label.to(torch::kInt64);
  return label;
}

Tensor flag(bool on) {
  auto flag = torch::full({4}, on);
  flag.to(torch::kBool);
  return flag;
}

Tensor host() {
  auto x = torch::ones({4}, torch::kCPU);
  x.cpu();
  return x;
}

Tensor number(double number) {
  auto x = torch::full({1}, number);
  x.to(torch::kInt64);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.to(torch::kInt64)' returns the converted tensor and leaves 'x' as it is
  return x;
}

// One of the callers gives another type.
static Tensor asLong(Tensor x) {
  x.to(torch::kInt64);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.to(torch::kInt64)' returns the converted tensor and leaves 'x' as it is
  return x;
}
Tensor both(const Tensor &unknown) {
  return asLong(torch::full({1}, 3)) + asLong(unknown);
}
