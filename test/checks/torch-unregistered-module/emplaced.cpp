// RUN: %check_torch %s torch-unregistered-module %t
//
// emplace_back() makes the module in the container.

#include <torch/torch.h>

#include <vector>

using torch::Tensor;
namespace nn = torch::nn;

struct Pyramid : nn::Module {
  explicit Pyramid(int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      lateral.emplace_back(nn::Conv2dOptions(8 << i, 8, 1));
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: the modules in 'lateral' are never registered
    for (int64_t i = 0; i < n; ++i)
      heads.emplace_back(8, 2);
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: the modules in 'heads' are never registered
    for (int64_t i = 0; i < n; ++i)
      relus.emplace_back(nn::ReLUOptions(true));
    for (int64_t i = 0; i < n; ++i) {
      kept.emplace_back(8, 8);
      register_module("kept" + std::to_string(i), kept.back());
    }
    for (int64_t i = 0; i < n; ++i)
      later.emplace_back(nullptr);
  }
  Tensor forward(Tensor x) {
    for (size_t i = 0; i < lateral.size(); ++i)
      x = relus[i]->forward(lateral[i]->forward(x));
    for (auto &layer : kept)
      x = layer->forward(x);
    for (auto &head : heads)
      x = head->forward(x);
    return later.empty() ? x : later.front()->forward(x);
  }
  std::vector<nn::Conv2d> lateral;
  std::vector<nn::Linear> heads, kept, later;
  std::vector<nn::ReLU> relus;
};

int main() {
  Pyramid net(0);
  return static_cast<int>(net.forward(torch::ones({2})).numel());
}
