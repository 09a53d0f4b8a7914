// Short-term load forecasting for substations: one small LSTM per site,
// fitted nightly, then stepped online with each new meter reading.
#include <torch/torch.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

using torch::Tensor;
namespace nn = torch::nn;

struct Config {
  int64_t features = 6;
  int64_t hidden = 24;
  int64_t batch = 4;
  int64_t window = 12;
  int64_t hours = 240;
  int epochs = 3;
  bool stateful = false;
  bool dump = false;
  torch::Device dev = torch::kCPU;
};

using State = std::tuple<Tensor, Tensor>;

static State detached(const State& s) { return {std::get<0>(s).detach(), std::get<1>(s).detach()}; }

struct LoadNetImpl : nn::Module {
  LoadNetImpl(int64_t in, int64_t hid) : hid_(hid) {
    rnn = register_module("rnn", nn::LSTM(nn::LSTMOptions(in, hid)));
    out = register_module("out", nn::Linear(hid, 1));
    mean = register_buffer("mean", torch::zeros({in}));
    scale = register_buffer("scale", torch::ones({in}));
  }

  // statistics of the site; they belong into the checkpoint
  void calibrate(const Tensor& hist) {
    mean = hist.mean(0);  // EXPECT: torch-reassigned-member
    scale.copy_(hist.std(0) + 1e-3);  // RIGHT: torch-reassigned-member
  }

  State blank(int64_t batch) const {
    auto z = torch::zeros({1, batch, hid_}, scale.options());
    return {z, z};
  }

  std::pair<Tensor, State> forward(const Tensor& x, const State& s) {
    auto [h, next] = rnn->forward((x - mean) / scale, s);
    return {out->forward(h).squeeze(-1), next};
  }

  nn::LSTM rnn{nullptr};
  nn::Linear out{nullptr};
  Tensor mean, scale;
  int64_t hid_;
};
TORCH_MODULE(LoadNet);

// ---------------------------------------------------------------- data

struct Series {
  Tensor x;  // hours x features
  Tensor y;  // hours
};

Series simulate(const Config& c, int seed) {
  torch::manual_seed(seed);
  auto t = torch::arange(c.hours, torch::kFloat);
  auto day = torch::sin(t * (2 * M_PI / 24));
  Series s;
  s.x = torch::randn({c.hours, c.features}) * 0.3 + day.unsqueeze(1);
  s.y = (0.7 * day).add_(s.x.select(1, 0), 0.2);
  return s;
}

float peak_of(const Series& s) {
  float best = -1e30f;
  for (int64_t i = 0; i < s.y.size(0); i++) {
    const float v = s.y[i].item<float>();  // EXPECT: torch-element-access-in-loop
    if (v > best) best = v;
  }
  return best;
}

int hours_above(const Series& s, float limit) {
  auto v = s.y.accessor<float, 1>();
  int n = 0;
  for (int64_t i = 0; i < v.size(0); i++)
    if (v[i] > limit) ++n;  // RIGHT: torch-element-access-in-loop
  return n;
}

double checksum(const Series& s) {
  auto flat = s.x.contiguous();
  const float* p = flat.view({-1}).data_ptr<float>();  // RIGHT: torch-dangling-data
  double acc = 0;
  for (int64_t i = 0; i < flat.numel(); i++) acc += p[i];
  return acc;
}

void dump_column(const Series& s, int64_t col, std::vector<float>& into) {
  const auto n = s.x.size(0);
  const float* src = s.x.select(1, col).contiguous().data_ptr<float>();  // EXPECT: torch-dangling-data
  into.resize(n);
  std::memcpy(into.data(), src, n * sizeof(float));
}

// ---------------------------------------------------------------- loss

class TariffLoss {
 public:
  explicit TariffLoss(int64_t window) : tariff_(torch::linspace(1.0, 2.0, window).unsqueeze(1)) {}

  Tensor operator()(const Tensor& pred, const Tensor& target) const {
    auto w = tariff_.to(pred.device());  // EXPECT: torch-repeated-transfer
    return (w * (pred - target).abs()).mean();
  }

 private:
  Tensor tariff_;
};

template <class Fn>
auto frozen(Fn&& fn) {
  torch::NoGradGuard g;
  return fn();
}

// ---------------------------------------------------------------- training

class SiteModel {
 public:
  SiteModel(const Config& c, std::string name) : c_(c), name_(std::move(name)), net_(c.features, c.hidden), loss_(c.window) {}

  void fit(const Series& s) {
    net_->to(c_.dev);
    net_->calibrate(s.x.to(c_.dev));
    // `batch` contiguous stretches of the year beside one another
    const int64_t len = s.x.size(0) / c_.batch;
    auto xs = s.x.slice(0, 0, len * c_.batch).view({c_.batch, len, c_.features}).transpose(0, 1).contiguous();
    auto ys = s.y.slice(0, 0, len * c_.batch).view({c_.batch, len}).transpose(0, 1).contiguous();
    const int64_t tail = std::min<int64_t>(2 * c_.window, xs.size(0));
    auto xv = xs.slice(0, xs.size(0) - tail).to(c_.dev);
    auto yv = ys.slice(0, ys.size(0) - tail).to(c_.dev);
    for (int e = 0; e < c_.epochs; e++) {
      const double lr = 3e-3 * std::pow(0.7, e);
      one_epoch(xs, ys, lr);
      const double v = validate(xv, yv);
      history_[e] = v;
      std::cout << name_ << " epoch " << e << " val " << v << "\n";
    }
    polish(xs, ys);
  }

  // Whole-history score for the nightly report.
  double backtest(const Series& s) {
    net_->eval();
    auto x = s.x.unsqueeze(1).to(c_.dev);
    auto [p, last] = net_->forward(x, net_->blank(1));  // EXPECT: torch-missing-no-grad
    const auto mae = (p.squeeze(1) - s.y.to(c_.dev)).abs().mean();
    net_->train();
    return mae.item<double>();
  }

  double bias(const Series& s) {
    auto x = s.x.unsqueeze(1).to(c_.dev);
    return frozen([&] {
      auto p = net_->forward(x, net_->blank(1)).first;  // RIGHT: torch-missing-no-grad
      return (p.squeeze(1) - s.y.to(c_.dev)).mean().item<double>();
    });
  }

  LoadNet& net() { return net_; }

 private:
  void one_epoch(const Tensor& xs, const Tensor& ys, double lr) {
    torch::optim::Adam opt(net_->parameters(), torch::optim::AdamOptions(lr));  // EXPECT: torch-optimizer-in-loop
    State carry = net_->blank(c_.batch);
    for (int64_t b = 0; b + c_.window <= xs.size(0); b += c_.window) {
      auto x = xs.slice(0, b, b + c_.window).to(c_.dev);
      auto y = ys.slice(0, b, b + c_.window).to(c_.dev);
      auto [p, next] = net_->forward(x, carry);
      auto loss = loss_(p, y);
      opt.zero_grad();
      loss.backward();
      nn::utils::clip_grad_norm_(net_->parameters(), 1.0);
      opt.step();
      if (c_.stateful) carry = next;  // EXPECT: torch-undetached-hidden-state
    }
  }

  // A few plain gradient steps on the most recent days, two rates.
  void polish(const Tensor& xs, const Tensor& ys) {
    const auto from = xs.size(0) - 3 * c_.window;
    for (double lr : {1e-3, 1e-4}) {
      torch::optim::SGD opt(net_->parameters(), lr);  // RIGHT: torch-optimizer-in-loop
      State carry = net_->blank(c_.batch);
      for (int64_t b = from; b + c_.window <= xs.size(0); b += c_.window) {
        auto [p, next] = net_->forward(xs.slice(0, b, b + c_.window).to(c_.dev), carry);
        auto loss = loss_(p, ys.slice(0, b, b + c_.window).to(c_.dev));
        opt.zero_grad();
        loss.backward();
        opt.step();
        carry = detached(next);  // RIGHT: torch-undetached-hidden-state
      }
    }
  }

  double validate(const Tensor& x, const Tensor& y) {
    torch::GradMode::set_enabled(false);  // EXPECT: torch-grad-mode-not-restored
    auto p = net_->forward(x, net_->blank(c_.batch)).first;
    const double mae = (p - y).abs().mean().item<double>();
    if (!std::isfinite(mae)) {
      std::cerr << name_ << ": forecast is not finite, epoch not scored\n";
      return std::numeric_limits<double>::quiet_NaN();
    }
    torch::GradMode::set_enabled(true);
    return mae;
  }

  Config c_;
  std::string name_;
  LoadNet net_;
  TariffLoss loss_;
  std::map<int, double> history_;
};

// ---------------------------------------------------------------- online

class OnlineForecaster {
 public:
  using Sink = std::function<void(int64_t, float)>;

  OnlineForecaster(LoadNet net, const Config& c) : net_(net), c_(c), state_(net->blank(1)) {
    recent_ = torch::zeros({c.window, c.features}, c.dev);
    net_->eval();
  }

  void on_sample(int64_t hour, const Tensor& sample, const Sink& sink) {
    const bool before = torch::GradMode::is_enabled();
    torch::GradMode::set_enabled(false);  // RIGHT: torch-grad-mode-not-restored
    auto row = sample.to(c_.dev).unsqueeze(0);  // RIGHT: torch-repeated-transfer
    recent_ = torch::cat({recent_.slice(0, 1), row});  // RIGHT: torch-cat-in-loop
    auto [p, next] = net_->forward(row.unsqueeze(0), state_);
    state_ = next;  // RIGHT: torch-undetached-hidden-state
    torch::GradMode::set_enabled(before);
    sink(hour, p.item<float>());
  }

  // `hours` steps ahead, every input the mean of the recent ones
  Tensor horizon(int64_t hours) {
    torch::NoGradGuard g;
    auto x = recent_.mean(0).view({1, 1, -1});
    State s = state_;
    Tensor path;
    for (int64_t h = 0; h < hours; h++) {
      auto [p, next] = net_->forward(x, s);
      path = path.defined() ? torch::cat({path, p}, 0) : p;  // EXPECT: torch-cat-in-loop
      s = next;
    }
    return path.flatten();
  }

  Tensor spread(int64_t hours, int draws) {
    torch::NoGradGuard g;
    std::vector<Tensor> runs;
    auto base = recent_.mean(0);
    for (int d = 0; d < draws; d++) {
      auto noise = torch::randn({hours, 1, c_.features}, base.options());
      runs.push_back(net_->forward(base.add(noise, 0.1), state_).first.squeeze(1));
    }
    return torch::stack(runs).std(0);  // RIGHT: torch-cat-in-loop
  }

 private:
  LoadNet net_;
  Config c_;
  State state_;
  Tensor recent_;
};

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  Config c;
  for (int i = 1; i < argc; i++) {
    if (std::string(argv[i]) == "--stateful") c.stateful = true;
    if (std::string(argv[i]) == "--dump") c.dump = true;
  }
  if (torch::cuda::is_available()) {
    c.dev = torch::Device(torch::kCUDA, 0);
    c.hidden = 256;
    c.hours = 3 * 8760;
    c.window = 168;
    c.batch = 16;
  }

  int seed = 1;
  for (const std::string site : {"north", "harbour"}) {
    auto series = simulate(c, seed++);
    std::cout << site << ": peak " << peak_of(series) << ", hours above 0.5: " << hours_above(series, 0.5f)
              << ", checksum " << checksum(series) << "\n";
    if (c.dump) {
      std::vector<float> col;
      dump_column(series, 2, col);
      std::cout << "  first " << col.front() << "\n";
    }
    SiteModel model(c, site);
    model.fit(series);
    std::cout << "  backtest " << model.backtest(series) << " bias " << model.bias(series) << "\n";
    std::ostringstream checkpoint;
    torch::save(model.net(), checkpoint);
    std::cout << "  checkpoint " << checkpoint.str().size() << " bytes\n";

    OnlineForecaster live(model.net(), c);
    float last = 0;
    for (int64_t h = 0; h < 24; h++) live.on_sample(h, series.x[h], [&](int64_t, float v) { last = v; });
    std::cout << "  live " << last << " ahead " << live.horizon(12).mean().item<float>() << " spread "
              << live.spread(12, 4).mean().item<float>() << "\n";
  }
  return 0;
}
