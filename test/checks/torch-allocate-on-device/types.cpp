// RUN: %check_torch %s torch-allocate-on-device %t -still-warns
//
// Some factories make integers by default: with other options, of the device
// alone, randint() makes float.

#include <torch/torch.h>

using torch::Tensor;
void use(const Tensor &x);

void each(const std::vector<int64_t> &sizes, torch::Device device) {
  for (int64_t n : sizes) {
    use(torch::randint(0, 10, {n}).to(device));
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: 'torch::randint' makes this tensor on the CPU, and 'to' copies it to the device at once; make it there, with the device in its options and 'torch::kLong', which it has by default only (its numbers will be others
    use(torch::tril_indices(n, n).to(device));
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: 'torch::tril_indices' makes this tensor on the CPU, and 'to' copies it to the device at once; make it there, with the device in its options and 'torch::kLong', which it has by default only [
    // CHECK-FIXES: use(torch::tril_indices(n, n).to(device));
    use(torch::triu_indices(n, n, 0).to(device));
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: 'torch::triu_indices' makes this tensor on the CPU
    // CHECK-FIXES: use(torch::triu_indices(n, n, 0, torch::dtype(torch::kLong).device(device)));
    use(torch::arange(n).to(device));
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: 'torch::arange' makes this tensor on the CPU, and 'to' copies it to the device at once; make it there, with the device in its options [
    // CHECK-FIXES: use(torch::arange(n, device));
  }
}
