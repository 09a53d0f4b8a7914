// Short-term speed forecasting on a road network: graph convolution, recurrent core, seasonal baseline.
#include <torch/torch.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace traffic {

using torch::Tensor;

struct Edge {
  int64_t from, to;
  double km;
};

// As read from the roadside units: time-major speeds in 0.1 km/h, zero where a detector was silent.
struct SensorArchive {
  int64_t sensors = 0, ticks = 0;
  std::vector<int16_t> speeds;
  std::vector<int32_t> lanes;
  std::vector<Edge> edges;
};

SensorArchive synthesize(int64_t sensors, int64_t ticks) {
  std::mt19937 rng(17);
  std::uniform_real_distribution<double> jitter(-40.0, 40.0), u(0.0, 1.0);
  SensorArchive a;
  a.sensors = sensors;
  a.ticks = ticks;
  for (int64_t t = 0; t < ticks; ++t) {
    for (int64_t s = 0; s < sensors; ++s) {
      const double wave = 600.0 + 200.0 * std::sin(0.13 * static_cast<double>(t) + 0.4 * static_cast<double>(s));
      a.speeds.push_back(u(rng) < 0.03 ? 0 : static_cast<int16_t>(wave + jitter(rng)));
    }
  }
  for (int64_t s = 0; s < sensors; ++s) {
    a.lanes.push_back(static_cast<int32_t>(1 + s % 3));
    a.edges.push_back({s, (s + 1) % sensors, 0.5 + u(rng)});
    if (s % 4 == 0) a.edges.push_back({s, (s + sensors / 2) % sensors, 1.0 + u(rng)});
  }
  return a;
}

Tensor adjacency(const SensorArchive& a) {
  auto dense = torch::eye(a.sensors);
  for (const auto& e : a.edges) {
    dense[e.from][e.to] = std::exp(-e.km);  // EXPECT: torch-element-access-in-loop
  }
  dense = torch::maximum(dense, dense.t());
  const auto inverse_root = dense.sum(1).rsqrt();
  return dense * inverse_root.unsqueeze(1) * inverse_root.unsqueeze(0);
}

Tensor degrees(const SensorArchive& a) {
  auto counts = torch::zeros({a.sensors, 1});
  auto c = counts.accessor<float, 2>();
  for (const auto& e : a.edges) {
    c[e.from][0] += 1.f;  // RIGHT: torch-element-access-in-loop
    c[e.to][0] += 1.f;
  }
  return counts;
}

class Corpus {
 public:
  Corpus(SensorArchive archive, torch::Device device) : archive_(std::move(archive)) {
    auto raw = torch::from_blob(archive_.speeds.data(), {archive_.ticks, archive_.sensors}, torch::kInt16);  // RIGHT: torch-blob-dtype, torch-blob-lifetime
    series_ = raw.to(device).to(torch::kFloat32).div_(1000.0);  // RIGHT: torch-convert-before-transfer
    auto lanes = torch::from_blob(archive_.lanes.data(), {archive_.sensors, 1}, torch::kFloat32);  // EXPECT: torch-blob-dtype
    road_ = torch::cat({lanes, degrees(archive_)}, 1).to(device);  // RIGHT: torch-repeated-transfer
    adjacency_ = traffic::adjacency(archive_);
  }

  // Exponentially weighted history per sensor, sensors first.
  Tensor trend(int64_t lags) const {
    auto out = torch::zeros({archive_.sensors, archive_.ticks}, series_.options());
    for (int64_t lag = 0; lag < lags; ++lag) {
      out.slice(1, lag).add_(series_.t().slice(1, 0, archive_.ticks - lag), std::pow(0.5, lag + 1));  // EXPECT: torch-noncontiguous-operand
    }
    return out;
  }

  const Tensor& series() const { return series_; }
  const Tensor& road() const { return road_; }
  const Tensor& graph() const { return adjacency_; }
  int64_t sensors() const { return archive_.sensors; }
  int64_t ticks() const { return archive_.ticks; }

 private:
  SensorArchive archive_;
  Tensor series_, road_, adjacency_;
};

class EncoderImpl : public torch::nn::Module {
 public:
  EncoderImpl(int64_t features, int64_t width) {
    mix_ = register_module("mix", torch::nn::Linear(features, width));
    hop_ = register_module("hop", torch::nn::Linear(width, width));
    drop_ = register_module("drop", torch::nn::Dropout(0.1));
    cell_ = register_module("cell", torch::nn::GRUCell(width, width));
  }

  // window: [steps, sensors]; returns the state after the last step.
  Tensor forward(const Tensor& window, const Tensor& road, const Tensor& graph, Tensor state) {
    for (int64_t t = 0; t < window.size(0); ++t) {
      const auto x = torch::cat({window[t].unsqueeze(1), road}, 1);
      const auto z = torch::relu(hop_->forward(graph.mm(torch::relu(mix_->forward(x)))));
      state = state.defined() ? cell_->forward(drop_->forward(z), state)
                              : cell_->forward(drop_->forward(z));  // RIGHT: torch-undetached-hidden-state
    }
    return state;
  }

 private:
  torch::nn::Linear mix_{nullptr}, hop_{nullptr};
  torch::nn::Dropout drop_{nullptr};
  torch::nn::GRUCell cell_{nullptr};
};
TORCH_MODULE(Encoder);

class DecoderImpl : public torch::nn::Module {
 public:
  DecoderImpl(int64_t width, int64_t horizon)
      : body_(register_module("body", torch::nn::Sequential(torch::nn::Linear(width, width), torch::nn::ELU(),
                                                            torch::nn::Dropout(0.2),
                                                            torch::nn::Linear(width, horizon)))) {}
  Tensor forward(const Tensor& state) { return body_->forward(state).t(); }

 private:
  torch::nn::Sequential body_;
};
TORCH_MODULE(Decoder);

struct EpochStats {
  int epoch = 0;
  double train = 0.0, validation = 0.0;
};

struct Options {
  int64_t history = 8, horizon = 3, width = 24, stride = 4;
  int epochs = 3;
  bool stateful = false;
  std::string csv;
};

Tensor masked_error(const Tensor& predicted, const Tensor& target) {
  const auto valid = target.cpu().gt(0).to(target.device());  // EXPECT: torch-device-round-trip
  const auto error = (predicted - target).abs();
  return torch::where(valid, error, 0.0).sum() / valid.sum().clamp_min(1);
}

class Forecaster {
 public:
  Forecaster(std::shared_ptr<const Corpus> corpus, Options options, torch::Device device)
      : corpus_(std::move(corpus)), options_(std::move(options)), device_(device), encoder_(3, options_.width),
        decoder_(options_.width, options_.horizon) {
    encoder_->to(device_);
    decoder_->to(device_);
    auto params = encoder_->parameters();
    for (auto& p : decoder_->parameters()) params.push_back(p);  // RIGHT: torch-parameter-copy
    optimizer_ = std::make_unique<torch::optim::RMSprop>(params, torch::optim::RMSpropOptions(2e-3));
    split_ = corpus_->ticks() * 3 / 4;
  }

  void fit(const std::function<void(const EpochStats&)>& on_epoch) {
    for (int epoch = 0; epoch < options_.epochs; ++epoch) {
      const double train = run_epoch();
      on_epoch({epoch, train, validate()});
    }
  }

  void forecast() {
    torch::NoGradGuard no_grad;
    for (torch::nn::Module* m : std::initializer_list<torch::nn::Module*>{encoder_.get(), decoder_.get()}) {
      m->eval();  // RIGHT: torch-partial-eval-mode
    }
    const auto graph = corpus_->graph().to(device_);
    const auto window = corpus_->series().slice(0, corpus_->ticks() - options_.history);
    const auto next = decoder_->forward(encoder_->forward(window, corpus_->road(), graph, {}));
    const auto host = next.cpu();  // RIGHT: torch-device-round-trip
    const auto rows = host.accessor<float, 2>();
    std::ofstream out;
    if (!options_.csv.empty()) out.open(options_.csv);
    for (int64_t h = 0; h < host.size(0); ++h) {
      if (h == 0) std::printf("sensor 0 next tick %.1f km/h\n", 100.0 * rows[h][0]);
      for (int64_t s = 0; out.is_open() && s < host.size(1); ++s) out << rows[h][s] << (s + 1 < host.size(1) ? ',' : '\n');
    }
  }

 private:
  double run_epoch() {
    auto total = torch::zeros({}, torch::device(device_));
    Tensor state;
    int64_t windows = 0;
    for (int64_t at = 0; at + options_.history + options_.horizon <= split_; at += options_.stride) {
      const auto x = corpus_->series().slice(0, at, at + options_.history);
      const auto y = corpus_->series().slice(0, at + options_.history, at + options_.history + options_.horizon);
      optimizer_->zero_grad();
      const auto last = encoder_->forward(x, corpus_->road(), corpus_->graph().to(device_), state);  // EXPECT: torch-repeated-transfer
      const auto loss = masked_error(decoder_->forward(last), y);
      loss.backward();
      optimizer_->step();
      if (options_.stateful) state = last;  // EXPECT: torch-undetached-hidden-state
      total = total + loss;  // EXPECT: torch-retained-graph
      ++windows;
    }
    return total.item<double>() / static_cast<double>(windows);
  }

  double validate() {
    torch::NoGradGuard no_grad;
    encoder_->eval();  // EXPECT: torch-partial-eval-mode
    const auto graph = corpus_->graph().to(device_);
    auto total = torch::zeros({}, torch::device(device_));
    int64_t windows = 0;
    int64_t at = split_;
    while (at + options_.history + options_.horizon <= corpus_->ticks()) {
      const auto middle = at + options_.history;
      const auto state = encoder_->forward(corpus_->series().slice(0, at, middle), corpus_->road(), graph, {});
      const auto predicted = decoder_->forward(state);
      total += masked_error(predicted, corpus_->series().slice(0, middle, middle + options_.horizon));  // RIGHT: torch-retained-graph
      at += options_.horizon;
      ++windows;
    }
    encoder_->train();
    return total.item<double>() / static_cast<double>(windows);
  }

  std::shared_ptr<const Corpus> corpus_;
  Options options_;
  torch::Device device_;
  Encoder encoder_;
  Decoder decoder_;
  std::unique_ptr<torch::optim::RMSprop> optimizer_;
  int64_t split_ = 0;
};

// Predicts each sensor's trend from its own past; the yardstick for the graph model.
struct SeasonalBaseline : torch::nn::Module {
  explicit SeasonalBaseline(int64_t width)
      : core(register_module("core", torch::nn::GRU(torch::nn::GRUOptions(1, width)))),
        head(register_module("head", torch::nn::Linear(width, 1))) {}

  std::pair<Tensor, Tensor> forward(const Tensor& x, const Tensor& h) {
    const auto [out, next] = core->forward(x, h);
    return {head->forward(out).squeeze(-1), next};
  }
  torch::nn::GRU core;
  torch::nn::Linear head;
};

double fit_baseline(const Corpus& corpus, torch::Device device, int64_t chunk) {
  const int64_t width = 12;
  auto model = std::make_shared<SeasonalBaseline>(width);
  model->to(device);
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(1e-2));
  const auto trend = corpus.trend(5).t().contiguous();  // RIGHT: torch-redundant-transfer
  auto state = torch::zeros({1, corpus.sensors(), width}, torch::device(device));
  Tensor loss;
  for (int64_t at = 0; at + chunk < corpus.ticks(); at += chunk) {
    const auto x = trend.slice(0, at, at + chunk).unsqueeze(-1);
    optimizer.zero_grad();
    const auto [predicted, next] = model->forward(x, state);
    loss = torch::l1_loss(predicted, trend.slice(0, at + 1, at + chunk + 1));
    loss.backward();
    optimizer.step();
    state = next.detach();  // RIGHT: torch-undetached-hidden-state
  }
  return loss.item<double>();
}

}  // namespace traffic

int main(int argc, char** argv) {
  torch::manual_seed(23);
  traffic::Options options;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--stateful") == 0) options.stateful = true;
    if (std::strcmp(argv[i], "--csv") == 0 && i + 1 < argc) options.csv = argv[++i];
  }
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  auto corpus = std::make_shared<const traffic::Corpus>(traffic::synthesize(18, 200), device);

  traffic::Forecaster forecaster(corpus, options, device);
  forecaster.fit([](const traffic::EpochStats& s) {
    std::printf("epoch %d train %.4f validation %.4f\n", s.epoch, s.train, s.validation);
  });
  forecaster.forecast();
  std::printf("baseline %.4f\n", traffic::fit_baseline(*corpus, device, 20));
  return 0;
}
