// RUN: %check_torch %s torch-missing-no-grad %t
//
// Before it is trained a network is tried once, on numbers that are made up: whole, or layer after
// layer. What such a pass keeps is nothing beside what the training takes. All is quiet.

#include <torch/script.h>
#include <torch/torch.h>

#include <iostream>

using torch::Tensor;
using torch::nn::Linear;

struct BlocksImpl : torch::nn::Module {
  BlocksImpl() {
    first = register_module("first", torch::nn::Sequential(Linear(32, 32), torch::nn::ReLU()));
    last = register_module("last", torch::nn::Sequential(Linear(32, 2)));
  }
  Tensor forward(Tensor x) { return last->forward(first->forward(x)); }
  torch::nn::Sequential first{nullptr}, last{nullptr};
};
TORCH_MODULE(Blocks);

int main(int argc, char **argv) {
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  Blocks net;
  net->to(device);
  net->forward(torch::randn({512, 32}).to(device));
  auto x = torch::randn({512, 32}).to(device);
  x = net->first->forward(x);
  std::cout << x.sizes();
  x = net->last->forward(x);
  std::cout << x << x.sizes();

  torch::nn::Sequential layers(Linear(32, 32), Linear(32, 32));
  auto y = torch::randn({512, 32});
  for (auto &layer : *layers.ptr()) {
    y = layer.forward(y);
    std::cout << y.sizes();
  }

  auto scripted = torch::jit::load(argv[1]);
  std::vector<torch::jit::IValue> inputs{torch::randn({1, 3, 224, 224})};
  auto output = scripted.forward(inputs).toTensor();
  std::cout << output.sizes();

  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int step = 0; step < 100; ++step) {
    optimizer.zero_grad();
    net(torch::randn({64, 32}).to(device)).sum().backward();
    optimizer.step();
  }

  // Afterwards it is an evaluation.
  Tensor sum = torch::zeros({});
  for (int batch = 0; batch < argc; ++batch)
    sum += net(torch::randn({64, 32}).to(device)).sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: forward pass of 'net' keeps all intermediate results
  std::cout << sum;
}
