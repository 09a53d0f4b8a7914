// State of charge of traction batteries: an LSTM over current, voltage and
// temperature, trained offline on cell logs, then run for a fleet.
#include <torch/torch.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace soc {

constexpr int64_t kFeatures = 3;
constexpr int64_t kHidden = 24;
constexpr int64_t kChunk = 20;

using Clock = std::chrono::steady_clock;
using LstmState = std::tuple<torch::Tensor, torch::Tensor>;

double millis(Clock::time_point a, Clock::time_point b) {
  return std::chrono::duration<double, std::milli>(b - a).count();
}

// ------------------------------------------------------------------- data

struct CellLog {
  std::vector<float> samples;  // time x features
  std::vector<float> charge;   // time
};

CellLog drive(int cell, int64_t n) {
  CellLog log;
  log.samples.reserve(n * kFeatures);
  float q = 1.0f;
  for (int64_t i = 0; i < n; ++i) {
    const float current = std::sin(0.05f * i + cell) + 0.5f;
    q -= 0.0005f * current;
    log.samples.push_back(current);
    log.samples.push_back(3.2f + 0.8f * q - 0.05f * current);
    log.samples.push_back(25.0f + 2.0f * current * current);
    log.charge.push_back(q);
  }
  return log;
}

/// Chunks of the logs of all cells.
class ChunkSet : public torch::data::Dataset<ChunkSet> {
 public:
  explicit ChunkSet(std::vector<CellLog> logs) : logs_(std::move(logs)) {
    for (size_t c = 0; c < logs_.size(); ++c) {
      const auto n = static_cast<int64_t>(logs_[c].charge.size());
      for (int64_t a = 0; a + kChunk <= n; a += kChunk) where_.emplace_back(c, a);
    }
  }
  torch::data::Example<> get(size_t i) override {
    auto& log = logs_[where_[i].first];
    const int64_t a = where_[i].second;
    auto x = torch::from_blob(log.samples.data() + a * kFeatures, {kChunk, kFeatures}).clone();
    auto y = torch::from_blob(log.charge.data() + a, {kChunk}).clone();
    return {x, y};
  }
  std::optional<size_t> size() const override { return where_.size(); }

 private:
  std::vector<CellLog> logs_;
  std::vector<std::pair<size_t, int64_t>> where_;
};

/// The same for the long logs of the test bench, which are in one tensor.
class BenchSet : public torch::data::Dataset<BenchSet> {
 public:
  BenchSet(torch::Tensor x, torch::Tensor y) : x_(std::move(x)), y_(std::move(y)) {}
  torch::data::Example<> get(size_t i) override { return {x_[i], y_[i]}; }
  std::optional<size_t> size() const override { return x_.size(0); }

 private:
  torch::Tensor x_, y_;
};

// ------------------------------------------------------------------- model

class EstimatorImpl : public torch::nn::Module {
 public:
  EstimatorImpl() {
    rnn_ = register_module("rnn", torch::nn::LSTM(torch::nn::LSTMOptions(kFeatures, kHidden).batch_first(true)));
    out = register_module("out", torch::nn::Linear(kHidden, 1));
  }
  std::pair<torch::Tensor, LstmState> step(const torch::Tensor& x, const std::optional<LstmState>& s) {
    auto r = s ? rnn_->forward(x, *s) : rnn_->forward(x);
    auto h = std::get<0>(r);
    if (watch) watch(h);
    return {out->forward(h).squeeze(-1), std::get<1>(r)};
  }
  torch::Tensor forward(const torch::Tensor& x) { return step(x, std::nullopt).first; }

  torch::nn::Linear out{nullptr};
  std::function<void(torch::Tensor&)> watch;

 private:
  torch::nn::LSTM rnn_{nullptr};
};
TORCH_MODULE(Estimator);

/// Lets the output layer learn at a rate that depends on how far it has moved.
void dampen(Estimator net, double strength) {
  net->out->weight.register_hook([net, strength](torch::Tensor g) {  // EXPECT: torch-reference-cycle
    return g / (1.0 + strength * net->out->weight.detach().norm());
  });
}

void dampenBias(Estimator& net, double strength) {
  auto* raw = net->out.get();
  net->out->bias.register_hook([raw, strength](torch::Tensor g) {  // RIGHT: torch-reference-cycle
    return g / (1.0 + strength * raw->bias.detach().norm());
  });
}

// ------------------------------------------------------------------- training

class Trainer {
 public:
  Trainer(Estimator net, torch::Device device)
      : net_(std::move(net)), device_(device), opt_(net_->parameters(), torch::optim::AdamOptions(2e-3)) {}

  void fit(std::vector<CellLog> logs, const torch::Tensor& vx, const torch::Tensor& vy, int epochs) {
    auto set = ChunkSet(std::move(logs)).map(torch::data::transforms::Stack<>());
    auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
        std::move(set), torch::data::DataLoaderOptions().batch_size(16).workers(2));  // EXPECT: torch-dataset-copied
    for (int e = 0; e < epochs; ++e) {
      net_->out->weight.register_hook([](torch::Tensor g) { return g * 0.5; });  // EXPECT: torch-hook-in-loop
      for (auto& batch : *loader) update(batch.data.to(device_), batch.target.to(device_));
      const double v = validate(vx, vy);
      std::cout << "epoch " << e << " validation " << v << "\n";
    }
  }

  void bench(torch::Tensor x, torch::Tensor y) {
    auto set = BenchSet(std::move(x), std::move(y)).map(torch::data::transforms::Stack<>());
    auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
        std::move(set), torch::data::DataLoaderOptions().batch_size(8).workers(2));  // RIGHT: torch-dataset-copied
    torch::Tensor worst = torch::zeros({}, device_);
    net_->watch = [&worst](torch::Tensor& h) {
      if (h.requires_grad()) h.register_hook([&worst](torch::Tensor g) { worst = torch::max(worst, g.abs().max()); });  // RIGHT: torch-hook-in-loop
    };
    for (auto& batch : *loader) update(batch.data.to(device_), batch.target.to(device_));
    net_->watch = nullptr;
    std::cout << "bench, greatest gradient " << worst.item<float>() << "\n";
  }

  double score(const torch::Tensor& x, const torch::Tensor& y) {
    const bool before = torch::GradMode::is_enabled();
    torch::GradMode::set_enabled(false);  // RIGHT: torch-grad-mode-not-restored
    auto p = net_->forward(x);
    auto error = (p - y).abs().mean();
    torch::GradMode::set_enabled(before);
    return error.item<double>();
  }

  /// Whole drives, with the state carried over.
  void finetune(const torch::Tensor& x, const torch::Tensor& y) {
    std::optional<LstmState> state;
    for (int64_t a = 0; a + kChunk <= x.size(1); a += kChunk) {
      auto r = net_->step(x.slice(1, a, a + kChunk), state);
      auto loss = torch::mse_loss(r.first, y.slice(1, a, a + kChunk));
      opt_.zero_grad();
      loss.backward();
      opt_.step();
      state = r.second;  // EXPECT: torch-undetached-hidden-state
    }
  }

  void finetuneTruncated(const torch::Tensor& x, const torch::Tensor& y) {
    std::optional<LstmState> state;
    for (int64_t a = 0; a + kChunk <= x.size(1); a += kChunk) {
      auto r = net_->step(x.slice(1, a, a + kChunk), state);
      auto loss = torch::mse_loss(r.first, y.slice(1, a, a + kChunk));
      opt_.zero_grad();
      loss.backward();
      opt_.step();
      state = LstmState(std::get<0>(r.second).detach(), std::get<1>(r.second).detach());  // RIGHT: torch-undetached-hidden-state
    }
  }

 private:
  void update(const torch::Tensor& x, const torch::Tensor& y) {
    opt_.zero_grad();
    torch::mse_loss(net_->forward(x), y).backward();
    opt_.step();
  }

  double validate(const torch::Tensor& x, const torch::Tensor& y) {
    torch::GradMode::set_enabled(false);  // EXPECT: torch-grad-mode-not-restored
    const double v = torch::mse_loss(net_->forward(x), y).item<double>();
    if (!std::isfinite(v)) return std::numeric_limits<double>::max();
    best_ = std::min(best_, v);
    torch::GradMode::set_enabled(true);
    return v;
  }

  Estimator net_;
  torch::Device device_;
  torch::optim::Adam opt_;
  double best_ = std::numeric_limits<double>::max();
};

// ------------------------------------------------------------------- fleet

const std::vector<int64_t> kOver{0, 1};

struct Scaling {
  torch::Tensor mean, spread;
};

Scaling measureScaling(const torch::Tensor& x) {
  c10::InferenceMode fast;
  return {x.mean(kOver), x.std(kOver)};
}

/// Lets the scaling follow the season.
void follow(Scaling& s, const torch::Tensor& x) {
  s.mean.lerp_(x.mean(kOver), 0.01);  // EXPECT: torch-inference-tensor
}

void followCopy(Scaling& s, const torch::Tensor& x) {
  auto spread = s.spread.clone();
  spread.lerp_(x.std(kOver), 0.01);  // RIGHT: torch-inference-tensor
  s.spread = spread;
}

class Fleet {
 public:
  Fleet(Estimator net, Scaling scaling, torch::Device device)
      : net_(std::move(net)), scaling_(std::move(scaling)), device_(device) {}

  /// One thread per depot; the caller collects.
  std::vector<torch::Tensor> depots(const std::vector<torch::Tensor>& loads) {
    torch::NoGradGuard off;
    std::vector<torch::Tensor> result(loads.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < loads.size(); ++i) {
      threads.emplace_back([this, i, &loads, &result] {
        auto x = normalized(loads[i]);
        result[i] = net_->forward(x);  // EXPECT: torch-thread-local-guard
      });
    }
    for (auto& t : threads) t.join();
    return result;
  }

  torch::Tensor nightly(const torch::Tensor& load) {
    torch::Tensor result;
    std::thread worker([&] {
      torch::NoGradGuard off;
      result = net_->forward(normalized(load));  // RIGHT: torch-thread-local-guard
    });
    worker.join();
    return result;
  }

  double latency(const torch::Tensor& load, int runs) {
    torch::NoGradGuard off;
    auto x = normalized(load);
    const auto t0 = Clock::now();
    for (int i = 0; i < runs; ++i) net_->forward(x);
    const auto t1 = Clock::now();  // EXPECT: torch-timing-without-sync
    return millis(t0, t1) / runs;
  }

  double latencyToHost(const torch::Tensor& load, int runs) {
    torch::NoGradGuard off;
    auto x = normalized(load);
    const auto t0 = Clock::now();
    float lowest = 1e9f;
    for (int i = 0; i < runs; ++i) lowest = std::min(lowest, net_->forward(x).min().item<float>());
    const auto t1 = Clock::now();  // RIGHT: torch-timing-without-sync
    return lowest < 1e8f ? millis(t0, t1) / runs : -1.0;
  }

  /// Vehicles that have to come in.
  std::vector<int64_t> low(const torch::Tensor& charge, float limit) const {
    auto last = charge.select(1, -1).contiguous();
    auto host = last.to(torch::kCPU, /*non_blocking=*/true);  // EXPECT: torch-unsynchronized-copy
    const int64_t n = host.numel();
    const float* p = host.data_ptr<float>();
    std::vector<int64_t> ids;
    for (int64_t i = 0; i < n; ++i) {
      if (p[i] < limit) ids.push_back(i);
    }
    return ids;
  }

  std::pair<float, float> range(const torch::Tensor& charge) const {
    auto lo = charge.min().to(torch::kCPU, true);  // RIGHT: torch-unsynchronized-copy
    auto hi = charge.max().to(torch::kCPU, true);
    if (charge.is_cuda()) torch::cuda::synchronize();
    return {lo.item<float>(), hi.item<float>()};
  }

 private:
  torch::Tensor normalized(const torch::Tensor& x) const {
    return (x.to(device_) - scaling_.mean) / scaling_.spread;
  }

  Estimator net_;
  Scaling scaling_;
  torch::Device device_;
};

}  // namespace soc

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  torch::manual_seed(17);
  bool stateful = false, seasonal = false;
  for (int i = 1; i < argc; ++i) {
    stateful |= std::string(argv[i]) == "--stateful";
    seasonal |= std::string(argv[i]) == "--seasonal";
  }
  torch::Device device(torch::kCPU);
  if (torch::cuda::is_available()) device = torch::Device(torch::kCUDA, 0);

  std::vector<soc::CellLog> logs;
  for (int c = 0; c < 6; ++c) logs.push_back(soc::drive(c, 400));

  soc::Estimator net;
  net->to(device);
  soc::dampen(net, 0.01);
  soc::dampenBias(net, 0.01);

  auto options = torch::TensorOptions().device(device);
  auto vx = torch::rand({8, soc::kChunk, soc::kFeatures}, options);
  auto vy = torch::rand({8, soc::kChunk}, options);

  soc::Trainer trainer(net, device);
  trainer.fit(logs, vx, vy, 2);
  trainer.bench(torch::rand({32, soc::kChunk, soc::kFeatures}), torch::rand({32, soc::kChunk}));
  std::cout << "after bench " << trainer.score(vx, vy) << "\n";
  auto dx = torch::rand({2, 5 * soc::kChunk, soc::kFeatures}, options);
  auto dy = torch::rand({2, 5 * soc::kChunk}, options);
  if (stateful) {
    trainer.finetune(dx, dy);
  } else {
    trainer.finetuneTruncated(dx, dy);
  }

  auto scaling = soc::measureScaling(vx);
  if (seasonal) soc::follow(scaling, dx);
  soc::followCopy(scaling, dx);

  soc::Fleet fleet(net, scaling, device);
  std::vector<torch::Tensor> loads;
  for (int d = 0; d < 3; ++d) loads.push_back(torch::rand({10, soc::kChunk, soc::kFeatures}, options));
  auto charges = fleet.depots(loads);
  auto night = fleet.nightly(loads[0]);
  const auto ids = fleet.low(night, 0.5f);
  const auto r = fleet.range(night);
  std::cout << charges.size() << " depots, " << ids.size() << " low, range " << r.first << " to " << r.second << "\n";
  std::cout << "latency " << fleet.latency(loads[0], 20) << " ms, with copy " << fleet.latencyToHost(loads[0], 20)
            << " ms\n";
  return 0;
}
