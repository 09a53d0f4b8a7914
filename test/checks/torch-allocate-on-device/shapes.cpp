// RUN: %check_torch %s torch-allocate-on-device %t -still-warns
//
// Made on the CPU and moved at once.

#include <torch/torch.h>

using torch::Tensor;
void use(Tensor);

Tensor factories(int64_t n, Tensor x, torch::Device device) {
  auto z = torch::zeros({n, 8}).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'torch::zeros' makes this tensor on the CPU, and 'to' copies it to the device at once; make it there, with the device in its options [torch-allocate-on-device]
  // CHECK-FIXES: auto z = torch::zeros({n, 8}, device);
  auto o = torch::ones({n}, torch::kLong).to(x.device());
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'torch::ones' makes
  // CHECK-FIXES: auto o = torch::ones({n}, torch::dtype(torch::kLong).device(x.device()));
  auto a = torch::arange(n).cuda();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'torch::arange' makes this tensor on the CPU, and 'cuda' copies it
  // CHECK-FIXES: auto a = torch::arange(n, torch::kCUDA);
  auto f = torch::full({n, n}, 2.5, torch::dtype(torch::kDouble)).to(torch::kCUDA, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'torch::full' makes
  // CHECK-FIXES: auto f = torch::full({n, n}, 2.5, torch::dtype(torch::kDouble).device(torch::kCUDA));
  auto e = torch::empty({n}, torch::kCPU).to(device).fill_(3);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'torch::empty' makes
  // CHECK-FIXES: auto e = torch::empty({n}, device).fill_(3);
  auto w = torch::zeros({n, n}).requires_grad_().to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'torch::zeros' makes
  // CHECK-FIXES: auto w = torch::zeros({n, n}, device).requires_grad_();
  auto v = torch::zeros({n, n}).to(device).requires_grad_();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'torch::zeros' makes
  // CHECK-FIXES: auto v = torch::zeros({n, n}, device).requires_grad_();
  auto l = torch::ones_like(x.cpu()).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'torch::ones_like' makes
  // CHECK-FIXES: auto l = torch::ones_like(x.cpu(), device);
  auto r = torch::randn({n, 8}).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'torch::randn' makes this tensor on the CPU, and 'to' copies it to the device at once; make it there, with the device in its options (its numbers will be others: each device has a generator of its own)
  // CHECK-FIXES: auto r = torch::randn({n, 8}).to(device);
  auto t = torch::zeros({n, 8}).to(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'torch::zeros' makes
  // CHECK-FIXES: auto t = torch::zeros({n, 8}).to(x);
  auto p = torch::zeros({n, 8}).to(x.options());
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'torch::zeros' makes
  return z + o + a + f + e + w + v + l + r + t + p;
}

Tensor variable(int64_t n, torch::Device device) {
  auto hidden = torch::zeros({n, 8});
  hidden = hidden.to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'torch::zeros' makes this tensor on the CPU
  const auto mask = torch::ones({n, n}, torch::kBool);
  return hidden + mask.to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: 'torch::ones' makes this tensor on the CPU
}

// Nothing here says so but the loop of who calls them.
void train(const std::vector<Tensor> &batches, torch::Device device) {
  for (const Tensor &batch : batches)
    use(factories(batch.size(0), batch, device) + variable(batch.size(0), device));
}

void smallButInLoop(const std::vector<Tensor> &xs, torch::Device device) {
  for (const auto &x : xs)
    use(x + torch::zeros({x.size(0), 1}).to(device));
  // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'torch::zeros' makes
  // CHECK-FIXES: use(x + torch::zeros({x.size(0), 1}, device));
}

struct Net : torch::nn::Module {
  torch::Device device = torch::kCPU;
  Tensor forward(Tensor x) {
    auto h = torch::zeros({x.size(0), 64}).to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: 'torch::zeros' makes
    // CHECK-FIXES: auto h = torch::zeros({x.size(0), 64}, device);
    return x + h;
  }
};

// On the side of the device it is copied.
void onDevice(torch::Device device, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if (device.is_cuda())
      use(torch::rand({n, n}).to(device));
      // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'torch::rand' makes this tensor on the CPU
    if (device == torch::kCPU)
      use(torch::rand({n, n}, device));
    else
      use(torch::rand({n, n}).to(device));
      // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'torch::rand' makes this tensor on the CPU
  }
}
