// Fits one small gated network per request; progress and gradients are watched by callbacks.
#include <torch/torch.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <memory>
#include <vector>

namespace {
struct GatedImpl : torch::nn::Module {
  GatedImpl() {
    in = register_module("in", torch::nn::Linear(6, 24));
    gate = register_module("gate", torch::nn::Linear(6, 24));
    out = register_module("out", torch::nn::Linear(24, 1));
  }
  torch::Tensor forward(const torch::Tensor& x) { return out(torch::tanh(in(x)) * torch::sigmoid(gate(x))); }
  torch::nn::Linear in{nullptr}, gate{nullptr}, out{nullptr};
};
TORCH_MODULE(Gated);

struct Series { torch::Tensor x, y; };

struct Session {
  Gated net;
  std::vector<double> history;
  std::function<void(double)> on_epoch;
  std::function<bool()> finished;
  void note(double loss) { history.push_back(loss); }
};

double fit_request(const Series& data) {
  auto session = std::make_shared<Session>();
  session->on_epoch = [session](double loss) { session->note(loss); };  // EXPECT: torch-reference-cycle
  std::weak_ptr<Session> weak = session;
  session->finished = [weak] {  // RIGHT: torch-reference-cycle a weak pointer
    auto strong = weak.lock();
    return strong && !strong->history.empty() && strong->history.back() < 1e-4;
  };
  torch::optim::Adam optimizer(session->net->parameters(), 1e-2);
  for (int epoch = 0; epoch < 20 && !session->finished(); ++epoch) {
    auto loss = torch::mse_loss(session->net->forward(data.x), data.y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    session->on_epoch(loss.item<double>());
  }
  return session->history.back();
}

double fit_towards(const Series& data, const Gated& teacher) {
  Gated net;
  net->gate->weight.register_hook([net](torch::Tensor grad) {  // EXPECT: torch-reference-cycle
    return torch::add(grad, net->gate->weight.detach(), 0.01);
  });
  net->out->weight.register_hook([teacher](torch::Tensor grad) {  // RIGHT: torch-reference-cycle what is captured belongs to another network
    return torch::sub(grad, teacher->out->weight.detach(), 0.01);
  });
  torch::optim::SGD optimizer(net->parameters(), 1e-2);
  torch::Tensor loss;
  for (int step = 0; step < 20; ++step) {
    auto hidden = torch::tanh(net->in(data.x));
    hidden.register_hook([hidden](torch::Tensor grad) { return grad * hidden.abs(); });  // EXPECT: torch-reference-cycle
    auto opened = torch::sigmoid(net->gate(data.x));
    opened.register_hook([o = opened.detach()](torch::Tensor grad) { return grad * o; });  // RIGHT: torch-hook-in-loop the activation is new in each step
    loss = torch::mse_loss(net->out(hidden * opened), data.y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  return loss.item<double>();
}

void train_clipped(Gated& net, const Series& data, int steps) {
  torch::optim::SGD optimizer(net->parameters(), 1e-2);
  net->gate->bias.register_hook([](torch::Tensor grad) { return grad * 0.5; });  // RIGHT: torch-hook-in-loop before the loop
  for (int step = 0; step < steps; ++step) {
    net->out->weight.register_hook([](torch::Tensor grad) { return grad.clamp(-0.1, 0.1); });  // EXPECT: torch-hook-in-loop
    optimizer.zero_grad();
    torch::mse_loss(net->forward(data.x), data.y).backward();
    optimizer.step();
  }
}

void scale_gradients(Gated& net, double factor) {
  for (auto& parameter : net->parameters())
    parameter.register_hook([factor](torch::Tensor grad) { return grad * factor; });  // EXPECT: torch-hook-in-loop
}

void train_with_warmup(Gated& net, const std::vector<Series>& parts, int epochs) {
  torch::optim::SGD optimizer(net->parameters(), 1e-2);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    scale_gradients(net, 0.9);
    for (const auto& part : parts) {
      optimizer.zero_grad();
      torch::mse_loss(net->forward(part.x), part.y).backward();
      optimizer.step();
    }
  }
}

double held_out_error(Gated& net, const std::vector<Series>& parts) {
  torch::GradMode::set_enabled(false);  // EXPECT: torch-grad-mode-not-restored
  double sum = 0;
  for (const auto& part : parts) {
    const double error = torch::mse_loss(net->forward(part.x), part.y).item<double>();
    if (!std::isfinite(error)) return error;
    sum += error;
  }
  torch::GradMode::set_enabled(true);
  return sum / parts.size();
}

double largest_output(Gated& net, const std::vector<Series>& parts) {
  const bool before = torch::GradMode::is_enabled();
  torch::GradMode::set_enabled(false);  // RIGHT: torch-grad-mode-not-restored there is one way out, and it restores
  double largest = 0;
  for (const auto& part : parts) largest = std::max(largest, net->forward(part.x).abs().max().item<double>());
  torch::GradMode::set_enabled(before);
  return largest;
}

double train_and_watch(Gated& net, const std::vector<Series>& parts, int epochs) {
  torch::optim::Adam optimizer(net->parameters(), 1e-3);
  double error = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (const auto& part : parts) {
      optimizer.zero_grad();
      torch::mse_loss(net->forward(part.x), part.y).backward();
      optimizer.step();
    }
    error = held_out_error(net, parts) + largest_output(net, parts);
  }
  return error;
}
}  // namespace

int main() {
  torch::manual_seed(5);
  std::vector<Series> parts;
  for (int i = 0; i < 4; ++i) {
    auto x = torch::randn({32, 6});
    parts.push_back({x, x.sum(1, true).tanh()});
  }
  Gated teacher, student;
  std::cout << fit_request(parts[0]) << ' ' << fit_towards(parts[1], teacher) << '\n';
  train_clipped(student, parts[2], 10);
  train_with_warmup(student, parts, 3);
  std::cout << train_and_watch(student, parts, 5) << '\n';
}
