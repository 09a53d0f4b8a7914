// RUN: %check_torch %s torch-allocate-on-device %t
// RUN: %check_torch %s torch-allocate-on-device %t -check-prefix=MINOR -- -config="{CheckOptions: {torch-allocate-on-device.Minor: true}}"
//
// What is known to be small is told with Minor only.

#include <torch/torch.h>

using torch::Tensor;

void train(torch::nn::Linear net, torch::optim::SGD &opt, const Tensor &x,
           torch::Device device, int64_t n) {
  for (int i = 0; i < 1000; ++i) {
    Tensor loss = torch::zeros({1}).to(device);
    // MINOR-MESSAGES: :[[@LINE-1]]:19: warning: 'torch::zeros' makes this tensor on the CPU
    // MINOR-FIXES: Tensor loss = torch::zeros({1}, device);
    Tensor noise = torch::zeros({n, 64}).to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: 'torch::zeros' makes this tensor on the CPU
    // CHECK-FIXES: Tensor noise = torch::zeros({n, 64}, device);
    // MINOR-MESSAGES: :[[@LINE-3]]:20: warning: 'torch::zeros' makes this tensor on the CPU
    // MINOR-FIXES: Tensor noise = torch::zeros({n, 64}, device);
    opt.zero_grad();
    (loss + net(x + noise).sum()).backward();
    opt.step();
  }
}
