// Condition monitoring of a fleet of pumps: a recurrent forecaster with a head for the
// operating regime; large forecast errors are anomalies. Specialists per machine.
#include <torch/torch.h>

#include <cmath>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace nn = torch::nn;
namespace F = torch::nn::functional;

struct MonitorConfig {
  int64_t channels = 6;
  int64_t hidden = 32;
  int64_t regimes = 3;
  int64_t steps = 601;
  int64_t window = 50;
  int64_t epochs = 3;
  int64_t adaptRounds = 2;
  double lr = 4e-3;
  double decay = 0.7;
  double clip = 1.0;
  double quantile = 0.995;
  double fallbackThreshold = 4.0;
  double acceptable = 0.6;
  std::string checkpoint;
};

struct Machine {
  std::string name;
  torch::Tensor series;   // [steps, channels]
  torch::Tensor regimes;  // [steps]
};

class Fleet {
 public:
  Fleet(const MonitorConfig& cfg, int64_t count, int64_t firstSerial) {
    const auto time = torch::arange(cfg.steps, torch::kFloat32);
    const auto phase = torch::arange(cfg.channels, torch::kFloat32).mul_(0.7);
    for (int64_t i = 0; i < count; ++i) {
      Machine machine;
      machine.name = "pump-" + std::to_string(firstSerial + i);
      machine.regimes = time.div(120.0).floor().add_(static_cast<double>(i)).remainder_(static_cast<double>(cfg.regimes)).to(torch::kLong);
      const auto speed = machine.regimes.to(torch::kFloat32).mul_(0.05).add_(0.1);
      machine.series = torch::outer(speed.cumsum(0), torch::ones({cfg.channels})).add_(phase).sin_();
      machine.series.add_(torch::randn_like(machine.series), 0.05).add_(0.3 * static_cast<double>(i));
      machines_.push_back(std::move(machine));
    }
  }

  bool empty() const { return machines_.empty(); }
  auto begin() const { return machines_.begin(); }
  auto end() const { return machines_.end(); }

  torch::Tensor series() const {
    return stacked([](const Machine& m) { return m.series; });
  }
  torch::Tensor regimes() const {
    return stacked([](const Machine& m) { return m.regimes; });
  }

 private:
  template <typename Get>
  torch::Tensor stacked(Get get) const {
    std::vector<torch::Tensor> all;
    for (const auto& machine : machines_) all.push_back(get(machine));
    return torch::stack(all);
  }

  std::vector<Machine> machines_;
};

using State = std::tuple<torch::Tensor, torch::Tensor>;

struct Output {
  torch::Tensor forecast, regime;
  State state;
};

class ForecasterImpl : public nn::Cloneable<ForecasterImpl> {
 public:
  explicit ForecasterImpl(const MonitorConfig& cfg) : cfg_(cfg) { reset(); }

  void reset() override {
    offset_ = register_buffer("offset", torch::zeros({cfg_.channels}));
    scale_ = register_buffer("scale", torch::ones({cfg_.channels}));
    gain_ = torch::ones({cfg_.channels}, torch::requires_grad());  // EXPECT: torch-unregistered-module
    lstm_ = register_module("lstm", nn::LSTM(nn::LSTMOptions(cfg_.channels, cfg_.hidden).batch_first(true)));
    drop_ = register_module("drop", nn::Dropout(0.1));
    next_ = register_module("next", nn::Linear(cfg_.hidden, cfg_.channels));
    regime_ = register_module("regime", nn::Linear(cfg_.hidden, cfg_.regimes));
  }

  // Offset and scale of the channels from the series of the whole fleet.
  void calibrate(const torch::Tensor& series) {
    torch::NoGradGuard noGrad;
    const auto rows = series.flatten(0, 1);
    offset_ = rows.mean(0);  // EXPECT: torch-reassigned-member
    scale_.copy_(rows.std(0).clamp_min_(1e-3));  // RIGHT: torch-reassigned-member (written into the registered buffer)
  }

  torch::Tensor normalize(const torch::Tensor& series) const { return (series - offset_) / scale_; }

  Output forward(const torch::Tensor& x, const std::optional<State>& carried = std::nullopt) {
    auto [h, state] = lstm_->forward(x, carried);
    const auto features = drop_(h);
    return {next_(features) * gain_, regime_(features), state};
  }

 private:
  MonitorConfig cfg_;
  torch::Tensor offset_, scale_, gain_;
  nn::LSTM lstm_{nullptr};
  nn::Dropout drop_{nullptr};
  nn::Linear next_{nullptr}, regime_{nullptr};
};
TORCH_MODULE(Forecaster);

Forecaster copyOf(const Forecaster& model) {
  return Forecaster(std::dynamic_pointer_cast<ForecasterImpl>(model->clone()));
}

// All gradients in one buffer, so that they are clipped with a single kernel.
class FlatGradients {
 public:
  explicit FlatGradients(std::vector<torch::Tensor> parameters) : parameters_(std::move(parameters)) {
    int64_t total = 0;
    for (const auto& p : parameters_) total += p.numel();
    flat_ = torch::zeros({total});
    int64_t at = 0;
    for (auto& p : parameters_) {
      p.mutable_grad() = flat_.narrow(0, at, p.numel()).view_as(p);
      at += p.numel();
    }
  }

  void clear() {
    for (auto& p : parameters_) p.mutable_grad().zero_();  // RIGHT: torch-zero-grad-in-place (the gradients are views of one buffer and have to stay)
  }

  void clip(double limit) { flat_.mul_(limit / flat_.norm().clamp_min_(limit)); }

 private:
  std::vector<torch::Tensor> parameters_;
  torch::Tensor flat_;
};

State detached(const State& state) { return {std::get<0>(state).detach(), std::get<1>(state).detach()}; }

// Channels with little spread count more.
torch::Tensor channelWeights(const torch::Tensor& series) {
  torch::InferenceMode guard;
  auto weights = series.flatten(0, -2).std(0).clamp_min_(1e-3).reciprocal_();
  return weights.div_(weights.mean());
}

torch::Tensor regimeLoss(const torch::Tensor& logits, const torch::Tensor& regimes) {
  const auto logp = torch::log(torch::softmax(logits.flatten(0, 1), 1));  // EXPECT: torch-unfused-operation
  return torch::nll_loss(logp, regimes.flatten());
}

class Monitor {
 public:
  Monitor(const MonitorConfig& cfg, const Fleet& fleet)
      : cfg_(cfg), model_(cfg), series_(fleet.series()), regimes_(fleet.regimes()) {
    model_->calibrate(series_);
    weights_ = channelWeights(series_).clone();  // RIGHT: torch-inference-tensor (cloned outside the mode: an ordinary tensor)
  }

  void fit(const Fleet& heldOut) {
    const auto parameters = model_->parameters();
    FlatGradients gradients(parameters);
    const auto x = model_->normalize(series_);
    model_->train();
    for (int64_t epoch = 0; epoch < cfg_.epochs; ++epoch) {
      const double lr = cfg_.lr * std::pow(cfg_.decay, static_cast<double>(epoch));
      torch::optim::Adam opt(parameters, torch::optim::AdamOptions(lr));  // EXPECT: torch-optimizer-in-loop
      const double loss = runEpoch(x, opt, gradients);
      std::cout << "epoch " << epoch << " loss " << loss << " held out " << validate(heldOut) << "\n";
    }
    model_->eval();  // RIGHT: torch-eval-mode-not-restored (the training is over; specialists train copies in their own mode)
  }

  double validate(const Fleet& fleet) {
    if (fleet.empty()) return 0.0;
    torch::NoGradGuard noGrad;
    model_->eval();  // EXPECT: torch-eval-mode-not-restored
    const double error = windowScores(model_->normalize(fleet.series())).mean().item<double>();
    if (error < cfg_.acceptable) return error;
    std::cerr << "the error of " << error << " is above " << cfg_.acceptable << "\n";
    model_->train();
    return error;
  }

  // How badly the fleet, as a whole, explains the regimes of one machine.
  double surprise(const Fleet& fleet) {
    torch::AutoGradMode grad(false);  // RIGHT: torch-grad-mode-not-restored (the object restores the mode)
    const auto x = model_->normalize(fleet.series());
    const auto observed = fleet.begin()->regimes;
    std::vector<torch::Tensor> parts;
    std::optional<State> state;
    for (int64_t at = 0; at + cfg_.window <= x.size(1); at += cfg_.window) {
      auto out = model_->forward(x.narrow(1, at, cfg_.window), state);
      state = out.state;  // RIGHT: torch-undetached-hidden-state (autograd is off in this function)
      const auto logMean = out.regime.softmax(2).mean(0).log();  // RIGHT: torch-unfused-operation (the log of a mean of distributions)
      parts.push_back(F::nll_loss(logMean, observed.narrow(0, at, cfg_.window), F::NLLLossFuncOptions().reduction(torch::kNone)));
    }
    return parts.empty() ? 0.0 : torch::cat(parts).mean().item<double>();  // RIGHT: torch-cat-in-loop (once, after the loop)
  }

  double threshold(const Fleet& fleet) {
    torch::GradMode::set_enabled(false);  // EXPECT: torch-grad-mode-not-restored
    const auto scores = windowScores(model_->normalize(fleet.series()));
    if (scores.numel() < 10 * cfg_.window) return cfg_.fallbackThreshold;
    const double level = scores.quantile(cfg_.quantile).item<double>();
    torch::GradMode::set_enabled(true);
    return level;
  }

  // One specialist per machine, started from the model of the fleet.
  std::map<std::string, Forecaster> specialize(const Fleet& fleet) {
    std::map<std::string, Forecaster> specialists;
    for (const auto& machine : fleet) {
      auto own = copyOf(model_);
      own->train();
      torch::optim::SGD opt(own->parameters(), torch::optim::SGDOptions(0.01).momentum(0.9));  // RIGHT: torch-optimizer-in-loop (every machine has its own model)
      adapt(own, machine, opt);
      specialists.emplace(machine.name, own);
    }
    return specialists;
  }

  Forecaster deploy() const {
    auto served = copyOf(model_);
    served->eval();  // RIGHT: torch-eval-mode-not-restored (a copy that is only served)
    return served;
  }

 private:
  double runEpoch(const torch::Tensor& x, torch::optim::Optimizer& opt, FlatGradients& gradients) {
    auto total = torch::zeros({});
    int64_t count = 0;
    std::optional<State> state;
    for (int64_t at = 0; at + cfg_.window < x.size(1); at += cfg_.window, ++count) {
      auto out = model_->forward(x.narrow(1, at, cfg_.window), state);
      const auto error = out.forecast - x.narrow(1, at + 1, cfg_.window);
      auto loss = (error.square() * weights_).mean() + regimeLoss(out.regime, regimes_.narrow(1, at, cfg_.window));
      gradients.clear();
      loss.backward();
      gradients.clip(cfg_.clip);
      opt.step();
      total.add_(loss.detach());
      state = detached(out.state);  // RIGHT: torch-undetached-hidden-state (detached() cuts the graph)
    }
    return count == 0 ? 0.0 : total.item<double>() / static_cast<double>(count);
  }

  void adapt(Forecaster& own, const Machine& machine, torch::optim::Optimizer& opt) {
    const auto weights = channelWeights(machine.series);
    const auto x = own->normalize(machine.series).unsqueeze(0);
    const int64_t length = x.size(1) - 1;
    for (int64_t round = 0; round < cfg_.adaptRounds; ++round) {
      const auto out = own->forward(x.narrow(1, 0, length));
      const auto error = out.forecast - x.narrow(1, 1, length);
      auto loss = (error.square() * weights).mean();  // EXPECT: torch-inference-tensor
      opt.zero_grad();
      loss.backward();
      opt.step();
    }
  }

  // The largest error over the channels, for each step of each machine.
  torch::Tensor windowScores(const torch::Tensor& x) {
    auto scores = torch::empty({0});
    std::optional<State> state;
    for (int64_t at = 0; at + cfg_.window < x.size(1); at += cfg_.window) {
      auto out = model_->forward(x.narrow(1, at, cfg_.window), state);
      const auto error = (out.forecast - x.narrow(1, at + 1, cfg_.window)).abs_().amax(2);
      scores = torch::cat({scores, error.flatten()});  // EXPECT: torch-cat-in-loop
      state = out.state;  // RIGHT: torch-undetached-hidden-state (both callers have switched autograd off)
    }
    return scores;
  }

  const MonitorConfig cfg_;
  Forecaster model_;
  torch::Tensor series_, regimes_, weights_;
};

int main(int argc, char** argv) {
  torch::manual_seed(37);
  MonitorConfig cfg;
  if (argc > 1) cfg.checkpoint = argv[1];
  const Fleet fleet(cfg, 5, 100), heldOut(cfg, 2, 200);
  Monitor monitor(cfg, fleet);
  try {
    monitor.fit(heldOut);
    std::cout << "surprise " << monitor.surprise(heldOut) << " threshold " << monitor.threshold(heldOut) << "\n";
    const auto specialists = monitor.specialize(heldOut);
    for (const auto& entry : specialists) std::cout << "specialist for " << entry.first << "\n";
  } catch (const c10::Error& e) {
    std::cerr << "monitoring failed: " << e.what_without_backtrace() << "\n";
    return 1;
  }
  if (!cfg.checkpoint.empty()) torch::save(monitor.deploy(), cfg.checkpoint);
  return 0;
}
