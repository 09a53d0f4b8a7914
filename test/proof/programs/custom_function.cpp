// Autograd functions of its own in a small network.

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <stdexcept>
#include <vector>

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Squash : torch::autograd::Function<Squash> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x) {
    auto y = torch::tanh(x);  // AT M
    // PLANT true torch-saved-data/output loop=L also=M: the output keeps the node that keeps it
    context->saved_data["y"] = y;
    return y;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto y = context->saved_data["y"].toTensor();
    return {gradients[0] * (1 - y * y)};
  }
};

struct Finite : torch::autograd::Function<Finite> {
  static torch::Tensor forward(AutogradContext*, const torch::Tensor& x) { return x.clone(); }
  static variable_list backward(AutogradContext*, variable_list gradients) {
    if (!gradients[0].isfinite().all().item<bool>())
      throw std::runtime_error("a gradient is not finite");
    return gradients;
  }
};

struct NetImpl : torch::nn::Module {
  NetImpl() {
    gate = register_module("gate", torch::nn::Linear(6, 32));
    value = register_module("value", torch::nn::Linear(6, 32));
    out = register_module("out", torch::nn::Linear(32, 1));
  }

  torch::Tensor forward(const torch::Tensor& x) { return out(Finite::apply(Squash::apply(value(x)))); }

  torch::Tensor gated(const torch::Tensor& x, const torch::Tensor& mask) {
    auto open = torch::sigmoid(gate(x));
    // PLANT true torch-inplace-saved/result loop=G also=B: sigmoid() has saved its result
    open.mul_(mask);
    return out(open * value(x));
  }

  torch::nn::Linear gate{nullptr}, value{nullptr}, out{nullptr};
};
TORCH_MODULE(Net);

// The error, or the first that is too large.
double errorOf(Net& net, const torch::Tensor& data, const torch::Tensor& target, double limit) {
  // PLANT innocent torch-grad-mode-not-restored/switched-off loop=L also=T: trainOn() switches it on for itself
  torch::GradMode::set_enabled(false);
  const double error = torch::mse_loss(net->forward(data), target).item<double>();
  if (error > limit)
    return error;
  const double shifted = torch::mse_loss(net->forward(data + 0.1), target).item<double>();
  torch::GradMode::set_enabled(true);
  return std::max(error, shifted);
}

bool trainOn(Net& net, torch::optim::Optimizer& optimizer, const torch::Tensor& data, const torch::Tensor& target) {
  torch::AutoGradMode recorded(true);
  optimizer.zero_grad();
  const auto loss = torch::mse_loss(net->forward(data), target);
  try {
    loss.backward();  // AT T
  } catch (const std::runtime_error&) {
    return false;
  }
  optimizer.step();
  return true;
}

void stepByGradients(Net& net, torch::optim::Optimizer& optimizer, const torch::Tensor& data) {
  torch::AutoGradMode recorded(true);
  const auto loss = (net->forward(data) - 1).abs().mean();
  const std::vector<torch::Tensor> weights{net->value->weight, net->out->weight};
  const auto gradients = torch::autograd::grad({loss}, weights);
  for (size_t i = 0; i < weights.size(); ++i)
    weights[i].mutable_grad() = gradients[i] / (gradients[i].norm() + 1e-6);
  // PLANT innocent torch-missing-zero-grad/never-cleared loop=L: each step gets new gradients in place of the old
  optimizer.step();
}

// A point that moves on at an even speed.
torch::Tensor path(int64_t steps) {
  torch::NoGradGuard no_grad;
  const double time = 0.1;
  const double speed = 0.7;
  auto place = torch::zeros({64, 6});
  for (int64_t i = 0; i < steps; ++i) {  // AT S
    // PLANT innocent torch-unfused-operation/scaling loop=S: the product is one of two numbers, and no tensor
    place = place + time * speed;
  }
  return place;
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(0);

  Net net;
  Net other;
  torch::optim::SGD optimizer(net->parameters(), 0.02);
  torch::optim::Adam other_optimizer({other->value->weight, other->out->weight}, 0.001);
  const auto start = path(50);
  int refused = 0;
  double worst = 0;
  for (int step = 0; step < 60; ++step) {  // AT L
    const auto data = torch::randn({64, 6}) + 0.01 * start;
    auto target = data.sum(1, true).sin();
    if (step == 20)
      target[3] = NAN;
    refused += trainOn(net, optimizer, data, target) ? 0 : 1;
    stepByGradients(other, other_optimizer, data);
    worst = std::max(worst, errorOf(net, data, data.sum(1, true).sin(), 0.5));
  }

  torch::GradMode::set_enabled(true);
  int lost = 0;
  for (int step = 0; step < 40; ++step) {  // AT G
    const auto data = torch::randn({64, 6});
    net->zero_grad();
    const auto loss = net->gated(data, (torch::rand({64, 32}) > 0.2).to(torch::kFloat)).pow(2).mean();
    try {
      loss.backward();  // AT B
    } catch (const c10::Error&) {
      ++lost;
    }
  }
  std::cout << "refused " << refused << " worst " << worst << " lost " << lost << '\n';
  return 0;
}
