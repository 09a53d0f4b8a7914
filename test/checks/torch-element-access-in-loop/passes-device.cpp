// RUN: %check_torch %s torch-element-access-in-loop %t
//
// The passes of passes.cpp, where the network may be on a device: each number that is read there waits for
// it. What is known to lie on the CPU does not wait.

#include <torch/torch.h>

using torch::Tensor;

struct Net : torch::nn::Module {
  torch::nn::Linear layer{register_module("layer", torch::nn::Linear(8, 2))};
  Tensor forward(Tensor x) { return layer(x); }
};

static int correct(Net &net, const std::vector<Tensor> &batches, const std::vector<Tensor> &labels,
                   torch::Device device) {
  torch::NoGradGuard no_grad;
  int hits = 0;
  for (size_t b = 0; b < batches.size(); ++b) {
    auto guess = net.forward(batches[b].to(device)).argmax(1);
    for (int64_t i = 0; i < guess.size(0); ++i)
      hits += guess[i].item<int64_t>() == labels[b][i].item<int64_t>();
      // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: elements of 'guess' are read one at a time
  }
  return hits;
}
static int copied(Net &net, const std::vector<Tensor> &batches, torch::Device device) {
  torch::NoGradGuard no_grad;
  int hits = 0;
  for (const Tensor &x : batches) {
    auto guess = net.forward(x.to(device)).argmax(1).to(torch::kCPU);
    for (int64_t i = 0; i < guess.size(0); ++i)
      hits += guess[i].item<int64_t>() == 0;
  }
  return hits;
}

int main() {
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  Net net;
  net.to(device);
  std::vector<Tensor> batches(10, torch::rand({64, 8})), labels(10, torch::zeros({64}, torch::kLong));
  return correct(net, batches, labels, device) + copied(net, batches, device);
}
