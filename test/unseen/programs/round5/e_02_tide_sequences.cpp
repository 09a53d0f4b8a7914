// Forecasts of tide gauges: recurrent networks over windows, and a store of summaries.
#include <torch/torch.h>

#include <iostream>
#include <tuple>
#include <utility>
#include <vector>

namespace {
constexpr int64_t kHidden = 24;

struct GaugeNetImpl : torch::nn::Module {
  GaugeNetImpl() {
    rnn = register_module("rnn", torch::nn::GRU(torch::nn::GRUOptions(3, kHidden).batch_first(true)));
    out = register_module("out", torch::nn::Linear(kHidden, 1));
  }
  std::pair<torch::Tensor, torch::Tensor> forward(const torch::Tensor& x, const torch::Tensor& h) {
    auto [y, next] = rnn->forward(x, h);
    return {out(y), next};
  }
  torch::nn::GRU rnn{nullptr};
  torch::nn::Linear out{nullptr};
};
TORCH_MODULE(GaugeNet);
struct Window {
  torch::Tensor levels, target;
};
std::vector<Window> record(int n) {
  std::vector<Window> w;
  for (int i = 0; i < n; ++i) {
    auto x = torch::randn({4, 16, 3});
    w.push_back({x, x.sum(2, true)});
  }
  return w;
}

class WindowTrainer {
 public:
  WindowTrainer() : opt_(net_->parameters(), torch::optim::AdamOptions(1e-3)) {}
  void naive(const std::vector<Window>& windows) {
    torch::Tensor memory = torch::zeros({1, 4, kHidden});
    for (const auto& w : windows) {
      auto [guess, after] = net_->forward(w.levels, memory);
      auto loss = torch::mse_loss(guess, w.target);
      opt_.zero_grad();
      loss.backward();
      opt_.step();
      memory = after;  // EXPECT: torch-undetached-hidden-state
    }
  }
  double truncated(const std::vector<Window>& windows) {
    torch::Tensor memory = torch::zeros({1, 4, kHidden});
    double last = 0;
    for (const auto& w : windows) {
      auto [guess, after] = net_->forward(w.levels, memory.detach());
      auto loss = torch::mse_loss(guess, w.target);
      opt_.zero_grad();
      loss.backward();
      opt_.step();
      memory = after;  // RIGHT: torch-undetached-hidden-state (detached where it goes in)
      last = loss.item<double>();
    }
    return last;
  }
  // A whole tide in one graph: gradients through all of the windows are wanted.
  double wholeTide(const std::vector<Window>& windows) {
    auto memory = torch::zeros({1, 4, kHidden});
    std::vector<torch::Tensor> parts;
    for (const auto& w : windows) {
      auto [guess, after] = net_->forward(w.levels, memory);
      memory = after;  // RIGHT: torch-undetached-hidden-state (one backward for the sequence)
      parts.push_back(torch::mse_loss(guess, w.target));  // RIGHT: torch-retained-graph (stacked and backwarded)
    }
    auto loss = torch::stack(parts).mean();
    opt_.zero_grad();
    loss.backward();
    opt_.step();
    return loss.item<double>();
  }
  GaugeNet& net() { return net_; }
 private:
  GaugeNet net_;
  torch::optim::Adam opt_;
};

class Archive {
 public:
  void observe(const torch::Tensor& rows) {
    rows_ = rows_.defined() ? torch::cat({rows_, rows}) : rows;  // EXPECT: torch-cat-in-loop
  }
  torch::Tensor rows() const { return rows_; }
 private:
  torch::Tensor rows_;
};

std::pair<torch::Tensor, torch::Tensor> summarize(GaugeNet& net, int stations) {
  torch::NoGradGuard off;
  net->eval();
  std::vector<torch::Tensor> last, means;
  for (int s = 0; s < stations; ++s) {
    auto hidden = std::get<0>(net->rnn->forward(torch::randn({1, 256, 3})));
    last.push_back(hidden.select(1, -1));  // EXPECT: torch-view-pins-storage
    means.push_back(hidden.mean(1));  // RIGHT: torch-view-pins-storage (a mean is no view)
  }
  return {torch::cat(last), torch::cat(means)};
}

torch::Tensor smooth(torch::nn::Linear& filter, int rounds) {
  torch::optim::SGD sgd(filter->parameters(), 0.01);
  torch::Tensor loss;
  for (int r = 0; r < rounds; ++r) {
    auto band = torch::ones({96, 96});  // EXPECT: torch-allocation-in-loop
    auto jitter = torch::randn({96, 96});  // RIGHT: torch-allocation-in-loop (drawn at random)
    auto ramp = torch::full({96, 96}, r * 0.1);  // RIGHT: torch-allocation-in-loop (depends on the round)
    loss = (filter(jitter) * band - ramp).square().mean();
    sgd.zero_grad();
    loss.backward();
    sgd.step();
  }
  return loss.detach();
}

torch::Tensor rollout(torch::nn::Linear& cell, int steps) {
  torch::NoGradGuard off;
  auto past = torch::zeros({1, 32});
  for (int s = 0; s < steps; ++s) {
    auto next = cell(past.mean(0, true));
    past = torch::cat({past, next});  // RIGHT: torch-cat-in-loop (each step reads all of it)
  }
  return past;
}
}  // namespace

int main() {
  torch::manual_seed(11);
  const auto windows = record(20);
  WindowTrainer trainer;
  std::cout << "truncated " << trainer.truncated(windows) << ", tide " << trainer.wholeTide(windows) << '\n';
  try {
    trainer.naive(windows);
  } catch (const c10::Error& e) {
    std::cout << "training stopped: " << e.what_without_backtrace() << '\n';
  }
  Archive archive;
  for (const auto& w : windows) archive.observe(w.levels.flatten(1));
  auto [last, means] = summarize(trainer.net(), 20);
  torch::nn::Linear filter(96, 96), cell(32, 32);
  std::cout << archive.rows().sizes() << last.sizes() << means.sizes() << smooth(filter, 20).item<float>()
            << rollout(cell, 30).sizes() << '\n';
}
