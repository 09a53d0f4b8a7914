// RUN: %check_torch %s torch-missing-no-grad %t
//
// The end of a copy of a network changes no grad mode: the copy was in eval
// mode, which is something else.

#include <torch/torch.h>

using torch::Tensor;

struct NetImpl : torch::nn::Cloneable<NetImpl> {
  NetImpl() { reset(); }
  void reset() override { fc = register_module("fc", torch::nn::Linear(8, 4)); }
  Tensor forward(const Tensor &x) { return fc->forward(x); }
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Net);

void look(const Net &net) {
  auto copy = std::dynamic_pointer_cast<NetImpl>(net->clone());
  copy->eval();
  std::cout << copy->parameters().size();
}

int main() {
  Net net;
  torch::optim::SGD sgd(net->parameters(), 0.1);
  look(net);
  for (int i = 0; i < 100; ++i) {
    sgd.zero_grad();
    net->forward(torch::ones({3, 8})).sum().backward();
    sgd.step();
  }
  double sum = 0;
  for (int i = 0; i < 100; ++i)
    sum += net->forward(torch::ones({3, 8})).sum().item<double>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: forward pass of 'net' keeps all intermediate results
  std::cout << sum;
}
