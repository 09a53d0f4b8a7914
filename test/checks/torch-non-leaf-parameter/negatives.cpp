// RUN: %check_torch %s torch-non-leaf-parameter %t
//
// What looks like it and is a leaf.

#include <torch/torch.h>

using torch::Tensor;
using torch::optim::SGD;

void last(torch::Device device) {
  auto w = (torch::randn({4}) * 0.1).to(device).requires_grad_();
  auto b = torch::randn({4}).to(device);
  b.set_requires_grad(true);
  SGD opt({w, b}, 0.1);
}

void guarded() {
  Tensor w = torch::randn({4}, torch::requires_grad());
  {
    torch::NoGradGuard no_grad;
    w = w * 0.1;
  }
  w.requires_grad_();
  SGD opt({w}, 0.1);
}

void same() {
  auto w = torch::zeros({4}, torch::requires_grad()).to(torch::kCPU);
  auto b = torch::zeros({4}).requires_grad_().to(torch::kFloat);
  auto c = torch::zeros({4}).requires_grad_().contiguous();
  auto d = torch::zeros({4}).requires_grad_().cpu();
  SGD opt({w, b, c, d}, 0.1);
}

void detached(const Tensor &x) {
  auto w = torch::randn({4}, torch::requires_grad()) * 0.1;
  auto leaf = w.detach().clone().requires_grad_();
  auto other = w.data();
  other.requires_grad_();
  SGD opt({leaf, other}, 0.1);
  torch::mse_loss(w, x).backward();
}

void elsewhere(std::vector<Tensor> weights, const Tensor &w, SGD &opt) {
  SGD other(weights, 0.1);
  SGD more({w}, 0.1);
  opt.add_parameters(weights);
}

void oneOfTwo(bool scale) {
  auto w = torch::randn({4}, torch::requires_grad());
  if (scale)
    w = (w * 0.1).detach().requires_grad_();
  auto v = torch::randn({4}, torch::requires_grad());
  if (scale)
    v = v * 2;
  else
    SGD({v}, 0.1).step();
  SGD opt({w}, 0.1);
}

struct Net : torch::nn::Module {
  Net() {
    fc = register_module("fc", torch::nn::Linear(4, 4));
    gain = register_parameter("gain", torch::randn({4}) * 0.1);
    scale = register_buffer("scale", torch::ones({4}) * 2);
    weight = torch::randn({4});
    weight.requires_grad_();
    register_parameter("weight", weight);
  }
  torch::nn::Linear fc{nullptr};
  Tensor gain, scale, weight;
};

void networks(torch::Device device) {
  Net net;
  net.to(device);
  SGD opt(net.parameters(), 0.1);
  std::vector<Tensor> some;
  for (auto &p : net.parameters())
    some.push_back(p);
  SGD other(some, 0.1);
  SGD third({net.fc->weight, net.gain}, 0.1);
}

void madeAnew(const Tensor &x) {
  auto w = torch::zeros({4}, torch::requires_grad());
  for (int round = 0; round < 3; ++round) {
    SGD opt({w}, 0.1);
    for (int i = 0; i < 10; ++i) {
      opt.zero_grad();
      (w * x).sum().backward();
      opt.step();
    }
    w = (w * 0.5).detach().requires_grad_();
  }
}

void afterTraining(const Tensor &x) {
  auto w = torch::zeros({4}, torch::requires_grad());
  SGD opt({w}, 0.1);
  for (int i = 0; i < 10; ++i) {
    (w * x).sum().backward();
    opt.step();
  }
  w = w * 2;
  w.sum().backward();
}

void inPlace(const Tensor &x) {
  auto w = torch::zeros({4}, torch::requires_grad());
  SGD opt({w}, 0.1);
  for (int i = 0; i < 10; ++i) {
    (w * x).sum().backward();
    opt.step();
    torch::NoGradGuard no_grad;
    w.clamp_(-1, 1);
  }
}
