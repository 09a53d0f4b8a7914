// Activations with a backward of their own, a descent by hand, and an average of the weights.
#include <torch/torch.h>
#include <algorithm>
#include <iostream>
#include <vector>

namespace {
using torch::autograd::AutogradContext, torch::autograd::variable_list;

struct Logistic : torch::autograd::Function<Logistic> {
  static torch::Tensor forward(AutogradContext* ctx, const torch::Tensor& x) {
    auto y = torch::sigmoid(x);
    ctx->saved_data["y"] = y;  // EXPECT: torch-saved-data
    return y;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {torch::sigmoid_backward(grads[0], ctx->saved_data["y"].toTensor())};
  }
};

struct Cube : torch::autograd::Function<Cube> {
  static torch::Tensor forward(AutogradContext* ctx, const torch::Tensor& x, double limit) {
    auto cubed = torch::empty_like(x);
    torch::pow_out(cubed, x, 3);
    ctx->saved_data["limit"] = limit;  // RIGHT: torch-saved-data a number
    ctx->saved_data["input"] = x;      // RIGHT: torch-saved-data an input
    ctx->saved_data["cubed"] = cubed;  // EXPECT: torch-saved-data
    return cubed;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    auto x = ctx->saved_data["input"].toTensor(), cubed = ctx->saved_data["cubed"].toTensor();
    auto slope = x.pow(2).mul_(3).masked_fill_(cubed > ctx->saved_data["limit"].toDouble(), 0);
    return {grads[0] * slope, torch::Tensor()};
  }
};

struct Squash : torch::autograd::Function<Squash> {
  static torch::Tensor forward(AutogradContext* ctx, const torch::Tensor& x) {
    auto y = x.tanh();
    ctx->save_for_backward({y});
    ctx->saved_data["half"] = y.detach() * 0.5;  // RIGHT: torch-saved-data no output, and without a node
    return y;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {torch::tanh_backward(grads[0], ctx->get_saved_variables()[0]) + ctx->saved_data["half"].toTensor()};
  }
};

struct MixerImpl : torch::nn::Module {
  MixerImpl() {
    in = register_module("in", torch::nn::Linear(8, 24));
    middle = register_module("middle", torch::nn::Linear(24, 24));
    out = register_module("out", torch::nn::Linear(24, 1));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    auto hidden = Squash::apply(middle(Logistic::apply(in(x))));
    return out(hidden + Cube::apply(hidden, 0.9));
  }
  torch::nn::Linear in{nullptr}, middle{nullptr}, out{nullptr};
};
TORCH_MODULE(Mixer);

// Moves every weight of the average a little towards the network.
void update_average(Mixer& average, const Mixer& net) {
  torch::NoGradGuard no_grad;
  const auto source = net->parameters();
  size_t i = 0;
  for (auto parameter : average->parameters())
    parameter = torch::lerp(parameter, source[i++], 0.05);  // EXPECT: torch-parameter-copy
}

void update_slow_average(Mixer& average, const Mixer& net) {
  torch::NoGradGuard no_grad;
  const auto source = net->parameters();
  size_t i = 0;
  for (auto parameter : average->parameters())
    parameter.lerp_(source[i++], 0.01);  // RIGHT: torch-parameter-copy the handle leads to the module's own tensor
}

void train(Mixer& net, Mixer& average, Mixer& slow, int steps) {
  torch::optim::Adam optimizer(net->parameters(), 1e-3);
  for (int step = 0; step < steps; ++step) {
    auto x = torch::randn({32, 8});
    optimizer.zero_grad();
    torch::mse_loss(net->forward(x), torch::sin(x).mean(1, true)).backward();
    optimizer.step();
    update_average(average, net);
    update_slow_average(slow, net);
  }
}

float descend(const torch::Tensor& x, const torch::Tensor& y) {
  auto w = torch::zeros({8, 1}, torch::requires_grad());
  for (int step = 0; step < 50; ++step) {
    torch::mse_loss(x.mm(w), y).backward();
    w.sub_(w.grad(), 0.1);  // EXPECT: torch-leaf-inplace
    w.mutable_grad().reset();
  }
  return w.norm().item<float>();
}

float descend_unrecorded(const torch::Tensor& x, const torch::Tensor& y) {
  auto w = torch::zeros({8, 1}, torch::requires_grad());
  for (int step = 0; step < 50; ++step) {
    torch::mse_loss(x.mm(w), y).backward();
    torch::NoGradGuard no_grad;
    w.sub_(w.grad(), 0.1);  // RIGHT: torch-leaf-inplace under a guard
    w.mutable_grad().reset();
  }
  return w.norm().item<float>();
}

float fit_small_gains(const torch::Tensor& x, const torch::Tensor& y) {
  auto gains = torch::rand({8}, torch::requires_grad()) * 0.1;
  torch::optim::Adam optimizer(std::vector<torch::Tensor>{gains}, 1e-2);  // EXPECT: torch-non-leaf-parameter
  torch::mse_loss((x * gains).sum(1, true), y).backward();
  optimizer.step();
  return gains.sum().item<float>();
}

float fit_gains(const torch::Tensor& x, const torch::Tensor& y) {
  auto gains = (torch::rand({8}) * 0.1).requires_grad_();
  torch::optim::Adam optimizer(std::vector<torch::Tensor>{gains}, 1e-2);  // RIGHT: torch-non-leaf-parameter told last to require a gradient
  torch::mse_loss((x * gains).sum(1, true), y).backward();
  optimizer.step();
  return gains.sum().item<float>();
}

float largest_gap(const torch::Tensor& a, const torch::Tensor& b) {
  const float* gaps = (a - b).abs().contiguous().data_ptr<float>();  // EXPECT: torch-dangling-data
  float largest = 0;
  for (int64_t i = 0; i < a.numel(); ++i) largest = std::max(largest, gaps[i]);
  return largest;
}

float largest_sum(const torch::Tensor& a, const torch::Tensor& b) {
  const auto owner = (a + b).abs();
  const float* sums = owner.data_ptr<float>();  // RIGHT: torch-dangling-data the tensor has a name
  return *std::max_element(sums, sums + owner.numel());
}
}  // namespace

int main(int argc, char**) {
  torch::manual_seed(8);
  Mixer net, average, slow;
  train(net, average, slow, 60);
  const auto x = torch::randn({64, 8}), y = x.sum(1, true);
  std::cout << descend_unrecorded(x, y) << ' ' << fit_gains(x, y) << ' ' << largest_sum(x, x.flip(0)) << '\n';
  if (argc > 1) std::cout << descend(x, y) << ' ' << largest_gap(x, x.flip(0)) << ' ' << fit_small_gains(x, y) << '\n';
}
