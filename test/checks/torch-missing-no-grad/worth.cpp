// RUN: %check_torch %s torch-missing-no-grad %t

// A pass that main() makes once costs nothing that anybody notices, unless what
// goes in is large; one that is repeated does. Passes that one guard serves are
// one finding.
#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

struct NetImpl : torch::nn::Module {
  NetImpl() : fc(register_module("fc", Linear(8, 2))) {}
  Tensor forward(Tensor x) { return torch::relu(fc->forward(x)); }
  Linear fc;
};
TORCH_MODULE(Net);

static void show(Net net, Tensor x) { std::cout << net->forward(x) << '\n'; }

template <class Model> void repeat(Model model, const Tensor &x) {
  for (int i = 0; i < 100; ++i)
    std::cout << model->forward(x) << '\n';
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: forward pass of 'model' keeps all intermediate results
}

// A function that others call: they may do so again and again.
Tensor predict(Net net, const Tensor &x) {
  net->eval();
  auto first = net->forward(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: forward pass of 'net' keeps all intermediate results
  auto second = net->forward(x.flip(0)); // One guard serves both.
  return (first + second).argmax(1).clone();
}

// A network that asks itself for the shape of what it returns, once.
struct ProbingImpl : torch::nn::Module {
  ProbingImpl(int64_t side)
      : conv(register_module("conv", torch::nn::Conv2d(3, 8, 5))),
        features(flat(side)), fc(register_module("fc", Linear(features, 2))) {}
  Tensor forward(Tensor x) { return fc->forward(conv->forward(x).flatten(1)); }
  int64_t flat(int64_t side) {
    Tensor x = torch::zeros({1, 3, side, side});
    return conv->forward(x).numel();
  }
  torch::nn::Conv2d conv;
  int64_t features;
  Linear fc;
};
TORCH_MODULE(Probing);

void train(Probing net, torch::optim::SGD &opt, Tensor x) {
  opt.zero_grad();
  net->forward(x).sum().backward();
  opt.step();
}

int main() {
  Net net;
  net->eval();
  show(net, torch::randn({2, 8}));
  auto once = net->forward(torch::ones({4, 8}));
  std::cout << once << '\n';
  auto ask = [&](Tensor x) { return net->forward(x).argmax(1); };
  std::cout << ask(torch::zeros({1, 8})) << '\n';
  repeat(net, torch::randn({2, 8}));
  {
    const int64_t count = 60000;
    auto images = torch::randn({count, 8});
    auto all = net->forward(images);
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: forward pass of 'net' keeps all intermediate results
    std::cout << all.argmax(1) << '\n';
  }
}
