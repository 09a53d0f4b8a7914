// Day-ahead forecasts of electric load per substation: GRU encoder, attention over the past week.
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace td = torch::data;

struct Options {
  int64_t stations = 12;
  int64_t hours = 24 * 40;
  int64_t window = 72;
  int64_t horizon = 24;
  int64_t hidden = 32;
  int64_t batch = 16;
  int epochs = 2;
  bool stateful = false;
  bool learned_prior = false;
};

static float synthetic_load(int64_t station, int64_t hour) {
  const float day = 6.2831853f * static_cast<float>(hour % 24) / 24.0f;
  const float week = 6.2831853f * static_cast<float>(hour % 168) / 168.0f;
  return 10.0f + station + 3.0f * std::sin(day) + std::cos(week + 0.1f * station);
}

// Everything the meters have sent, station by station.
class MeterReadings : public td::datasets::Dataset<MeterReadings> {
 public:
  MeterReadings(const Options& o, int64_t from, int64_t to) : window_(o.window), horizon_(o.horizon) {
    for (int64_t s = 0; s < o.stations; ++s) {
      std::vector<float> series;
      for (int64_t h = from; h < to; ++h) series.push_back(synthetic_load(s, h));
      series_.push_back(std::move(series));
    }
    per_station_ = (to - from - window_ - horizon_) / horizon_;
  }

  td::Example<> get(size_t index) override {
    const auto& s = series_[index / per_station_];
    const auto at = static_cast<int64_t>(index % per_station_) * horizon_;
    auto x = torch::empty({window_, 1});
    auto y = torch::empty({horizon_});
    std::memcpy(x.data_ptr<float>(), s.data() + at, sizeof(float) * window_);
    std::memcpy(y.data_ptr<float>(), s.data() + at + window_, sizeof(float) * horizon_);
    return {x, y};
  }
  std::optional<size_t> size() const override { return series_.size() * per_station_; }

 private:
  int64_t window_, horizon_;
  int64_t per_station_ = 0;
  std::vector<std::vector<float>> series_;
};

// The same, from an archive that was read before.
class Archive : public td::datasets::Dataset<Archive> {
 public:
  Archive(std::shared_ptr<const std::vector<float>> values, int64_t window, int64_t horizon)
      : values_(std::move(values)), window_(window), horizon_(horizon) {}

  td::Example<> get(size_t index) override {
    const float* p = values_->data() + index * horizon_;
    auto x = torch::empty({window_, 1});
    auto y = torch::empty({horizon_});
    std::copy(p, p + window_, x.data_ptr<float>());
    std::copy(p + window_, p + window_ + horizon_, y.data_ptr<float>());
    return {x, y};
  }
  std::optional<size_t> size() const override { return (values_->size() - window_ - horizon_) / horizon_; }

 private:
  std::shared_ptr<const std::vector<float>> values_;
  int64_t window_, horizon_;
};

struct StandardizeImpl : torch::nn::Module {
  StandardizeImpl() {
    center = register_buffer("center", torch::zeros({1}));
    spread = register_buffer("spread", torch::ones({1}));
  }
  void fit(const torch::Tensor& sample) {
    torch::NoGradGuard guard;
    center.copy_(sample.mean().reshape({1}));  // RIGHT: torch-reassigned-member
    spread = sample.std().clamp_min(1e-3).reshape({1});  // EXPECT: torch-reassigned-member
  }
  torch::Tensor forward(const torch::Tensor& x) { return (x - center) / spread; }
  torch::Tensor inverse(const torch::Tensor& z) { return z * spread + center; }
  torch::Tensor center, spread;
};
TORCH_MODULE(Standardize);

struct Forecast {
  torch::Tensor mean;     // [batch, horizon]
  torch::Tensor weights;  // [batch, window]
};

class ForecasterImpl : public torch::nn::Module {
 public:
  explicit ForecasterImpl(const Options& o) : o_(o) {
    norm = register_module("norm", Standardize());
    gru = register_module("gru", torch::nn::GRU(torch::nn::GRUOptions(1, o.hidden).batch_first(true)));
    query = register_module("query", torch::nn::Linear(o.hidden, 1));
    hours = register_module("hours", torch::nn::Embedding(o.horizon, o.hidden));
    head = torch::nn::Linear(2 * o.hidden, o.horizon);  // RIGHT: torch-reassigned-member
    register_module("head", head);
    gain = register_parameter("gain", hours->weight.detach().mean(1) * 0.1);  // RIGHT: torch-non-leaf-parameter
    if (o.learned_prior) {
      prior = register_parameter("prior", hours->weight.slice(1, 0, 4).mean(1));  // EXPECT: torch-non-leaf-parameter
    }
    recency = register_buffer("recency", torch::linspace(-1.0, 0.0, o.window));
  }

  Forecast forward(const torch::Tensor& x) {
    auto z = norm(x);
    if (!o_.stateful || !carry_.defined() || carry_.size(1) != x.size(0)) carry_ = torch::Tensor();
    auto [states, last] = gru(z, carry_);
    if (o_.stateful) carry_ = last;  // EXPECT: torch-undetached-hidden-state
    auto score = query(states).squeeze(-1) + recency;  // RIGHT: torch-device-mismatch
    auto weights = score.softmax(1);
    auto context = torch::bmm(weights.unsqueeze(1), states).squeeze(1);
    auto y = head(torch::cat({context, last.squeeze(0)}, 1)) + gain;
    if (prior.defined()) y = y + prior;
    return {norm->inverse(y), weights};
  }

  void forget() { carry_ = torch::Tensor(); }

  Standardize norm{nullptr};
  torch::nn::GRU gru{nullptr};
  torch::nn::Linear query{nullptr}, head{nullptr};
  torch::nn::Embedding hours{nullptr};
  torch::Tensor gain, prior, recency;

 private:
  Options o_;
  torch::Tensor carry_;
};
TORCH_MODULE(Forecaster);

// Follows single stations between two forecasts.
class Nowcast {
 public:
  Nowcast(int64_t hidden, torch::Device device) : cell_(1, hidden), out_(hidden, 1) {
    cell_->to(device);
    out_->to(device);
    params_ = cell_->parameters();
    for (const auto& p : out_->parameters()) params_.push_back(p);
  }

  torch::Tensor train_chunk(const torch::Tensor& chunk, torch::optim::Optimizer& opt) {
    opt.zero_grad();  // RIGHT: torch-zero-grad-in-place
    auto h = state_.defined() ? state_ : torch::zeros({chunk.size(0), cell_->options.hidden_size()}, chunk.options());
    auto loss = torch::zeros({}, chunk.options());
    for (int64_t t = 0; t + 1 < chunk.size(1); ++t) {
      h = cell_(chunk.narrow(1, t, 1), h);
      loss = loss + torch::mse_loss(out_(h), chunk.narrow(1, t + 1, 1));  // RIGHT: torch-retained-graph
    }
    loss.backward();
    opt.step();
    state_ = h.detach();  // RIGHT: torch-undetached-hidden-state
    return loss.detach();
  }

  const std::vector<torch::Tensor>& params() const { return params_; }

 private:
  torch::nn::GRUCell cell_;
  torch::nn::Linear out_;
  std::vector<torch::Tensor> params_;
  torch::Tensor state_;
};

struct StepRecord {
  int step;
  torch::Tensor loss;
  torch::Tensor weights;
};

struct GradientWatch {
  explicit GradientWatch(torch::Device device) : largest(torch::zeros({}, torch::device(device))) {}
  torch::Tensor largest;
  int64_t calls = 0;
};

static void watch(Forecaster& net, const std::shared_ptr<GradientWatch>& w) {
  auto target = net->head->weight;
  target.register_hook([w](const torch::Tensor& g) {  // EXPECT: torch-hook-in-loop
    w->largest = torch::maximum(w->largest, g.abs().max());
    ++w->calls;
  });
}

static void clear(const std::vector<torch::Tensor>& params) {
  for (const auto& p : params) {
    if (p.grad().defined()) p.mutable_grad().zero_();  // EXPECT: torch-zero-grad-in-place
  }
}

static torch::Tensor pinball(const torch::Tensor& prediction, const torch::Tensor& target, double q) {
  auto e = target - prediction;
  return torch::maximum(q * e, (q - 1) * e);
}

static torch::Tensor objective(const Forecast& f, const torch::Tensor& target, const torch::Tensor& hour_weight) {
  auto each = pinball(f.mean, target, 0.5) + 0.1 * pinball(f.mean, target, 0.9);
  auto entropy = -(f.weights * (f.weights + 1e-8).log()).sum(1).mean();
  return (each * hour_weight).mean() - 1e-3 * entropy;
}

template <typename Loader>
double evaluate(Forecaster& net, Loader& loader, torch::Device device) {
  torch::NoGradGuard guard;
  net->eval();
  auto bias = torch::zeros({}, torch::device(device));
  const auto correction = torch::tensor(0.98);
  int64_t n = 0;
  for (auto& batch : loader) {
    auto f = net(batch.data.to(device));
    bias += (f.mean * correction - batch.target.to(device)).abs().mean();  // RIGHT: torch-device-mismatch
    ++n;
  }
  net->train();
  return bias.template item<double>() / static_cast<double>(n);
}

int main(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--stateful")) o.stateful = true;
    if (!std::strcmp(argv[i], "--learned-prior")) o.learned_prior = true;
  }
  torch::manual_seed(23);
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);

  MeterReadings readings(o, 0, o.hours);
  auto train = td::make_data_loader<td::samplers::RandomSampler>(readings.map(td::transforms::Stack<>()), td::DataLoaderOptions().batch_size(o.batch).workers(2).drop_last(true));  // EXPECT: torch-dataset-copied

  auto archived = std::make_shared<std::vector<float>>();
  for (int64_t h = 0; h < o.hours; ++h) archived->push_back(synthetic_load(3, h + 7));
  auto test = td::make_data_loader<td::samplers::SequentialSampler>(
      Archive(archived, o.window, o.horizon).map(td::transforms::Stack<>()),  // RIGHT: torch-dataset-copied
      td::DataLoaderOptions().batch_size(o.batch).workers(2));

  Forecaster net(o);
  net->norm->fit(torch::tensor(*archived));
  net->to(device);
  torch::optim::AdamW optimizer(net->parameters(), torch::optim::AdamWOptions(3e-3));

  auto stats = std::make_shared<GradientWatch>(device);
  std::vector<StepRecord> records;
  int step = 0;
  for (int epoch = 0; epoch < o.epochs; ++epoch) {
    watch(net, stats);
    net->forget();
    for (auto& batch : *train) {
      const auto x = batch.data.to(device);
      const auto y = batch.target;
      const auto hour_weight = torch::linspace(1.2, 0.8, o.horizon, x.options());  // EXPECT: torch-allocation-in-loop
      clear(net->parameters());
      const auto noise = torch::randn({o.batch, o.window, 1}, x.options());  // RIGHT: torch-allocation-in-loop
      const auto f = net(x + 0.01 * noise);
      if (step % 8 == 0) {
        f.weights.register_hook([stats](const torch::Tensor& g) {  // RIGHT: torch-hook-in-loop
          if (!g.isfinite().all().item<bool>()) std::cout << "gradients of attention are not finite\n";
        });
      }
      auto loss = objective(f, y, hour_weight);  // EXPECT: torch-device-mismatch
      loss.backward();
      optimizer.step();
      records.push_back({step++, loss.detach(), f.weights});  // EXPECT: torch-retained-graph
    }
    std::cout << "epoch " << epoch << " mae " << evaluate(net, *test, device) << " largest gradient " << stats->largest.item<double>() << " in "
              << stats->calls << " calls\n";
  }

  auto mean_loss = torch::zeros({}, torch::device(device));
  auto focus = torch::zeros({o.window}, torch::device(device));
  for (const auto& r : records) {
    mean_loss += r.loss;
    focus += r.weights.detach().mean(0);
  }
  std::cout << records.size() << " steps, mean loss " << (mean_loss / static_cast<double>(records.size())).item<double>()
            << ", focus at " << o.window - 1 - focus.argmax().item<int64_t>() << " h before\n";

  Nowcast now(16, device);
  torch::optim::RMSprop now_opt(now.params(), torch::optim::RMSpropOptions(1e-3));
  auto series = torch::from_blob(archived->data(), {4, o.hours / 4}).clone().to(device);
  series = (series - series.mean()) / series.std();
  for (int64_t at = 0; at + 48 <= series.size(1); at += 48) {
    const auto loss = now.train_chunk(series.narrow(1, at, 48), now_opt);
    if (at % 96 == 0) std::cout << "nowcast " << at << ' ' << loss.item<double>() / 48 << '\n';
  }
  return 0;
}
