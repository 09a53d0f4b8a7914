// RUN: %check_torch %s torch-allocate-on-device %t
//
// Numbers of a generator that the call names: it is one of the CPU, and makes
// none elsewhere.

#include <torch/torch.h>

using torch::Tensor;

struct Jitter {
  at::Generator dice = at::detail::createCPUGenerator(3);
  std::optional<at::Generator> maybe;
  torch::Device device;
  torch::nn::Linear net;
  torch::optim::SGD sgd;

  void train(const std::vector<Tensor> &xs) {
    for (const Tensor &x : xs) {
      Tensor a = torch::rand({512, 64}, dice).to(device);
      Tensor b = torch::randint(0, 9, {512, 64}, dice, torch::kFloat).to(device);
      Tensor c = torch::randn({512, 64}, maybe).to(device);
      Tensor d = torch::randn({512, 64}, at::make_generator<at::CPUGeneratorImpl>(5)).to(device);
      Tensor e = torch::randn({512, 64}, torch::kFloat).to(device);
      // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'torch::randn' makes this tensor on the CPU
      sgd.zero_grad();
      net->forward(x + a + b + c + d + e).sum().backward();
      sgd.step();
    }
  }
};
