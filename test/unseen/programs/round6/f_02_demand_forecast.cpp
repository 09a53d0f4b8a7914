// Weekly demand forecasting for a grocery chain.
//
// A GRU reads price, promotion and calendar features of each store and predicts a demand
// bucket distribution plus a point forecast. Hyper parameters are checked by time-ordered
// cross validation, the final model is fine-tuned and rolled out over the horizon.
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace demand {

namespace F = torch::nn::functional;

struct Config {
  int64_t stores = 12;
  int64_t weeks = 120;
  int64_t window = 24;
  int64_t buckets = 8;
  int64_t hidden = 24;
  int64_t batch = 32;
  int64_t accumulate = 2;
  int64_t folds = 2;
  int64_t epochs = 2;
  int64_t horizon = 6;
  double learning_rate = 4e-3;
  double decay = 0.7;
  double point_weight = 0.3;
  std::string checkpoint = "/tmp/demand_forecast.pt";
};

constexpr int64_t kFeatures = 5;  // units, price, promo, weeks since promo, season

template <typename T>
torch::Tensor matrix_of(const std::vector<T>& values, int64_t rows, int64_t cols) {
  if (static_cast<int64_t>(values.size()) != rows * cols) {
    throw std::invalid_argument("matrix_of: size does not fit the shape");
  }
  auto options = torch::TensorOptions().dtype(c10::CppTypeToScalarType<T>::value);
  return torch::from_blob(const_cast<T*>(values.data()), {rows, cols}, options).clone();  // RIGHT: torch-blob-dtype (the dtype follows T), torch-blob-lifetime (cloned before the vector can go)
}

class SalesTable {
 public:
  explicit SalesTable(const Config& cfg) : stores_(cfg.stores), weeks_(cfg.weeks) {
    for (int64_t s = 0; s < stores_; ++s) {
      for (int64_t w = 0; w < weeks_; ++w) {
        const bool promo = (w * 7 + s * 3) % 11 == 0;
        const double season = std::sin(2.0 * M_PI * static_cast<double>(w) / 52.0);
        const float price = 2.0f + 0.1f * static_cast<float>(s % 4) - (promo ? 0.5f : 0.0f);
        price_.push_back(price);
        promo_.push_back(promo ? 1 : 0);
        units_.push_back(20.0 + 6.0 * season + (promo ? 8.0 : 0.0) - 2.0 * price + ((w * 13 + s * 5) % 7) * 0.5);
      }
    }
    for (int64_t w = 0; w < weeks_; ++w) {
      season_.push_back(std::sin(2.0 * M_PI * static_cast<double>(w) / 52.0));
    }
  }

  torch::Tensor units() const { return matrix_of(units_, stores_, weeks_).to(torch::kFloat); }
  torch::Tensor price() const { return matrix_of(price_, stores_, weeks_); }
  torch::Tensor promo() const { return matrix_of(promo_, stores_, weeks_); }

  torch::Tensor season() {
    return torch::from_blob(season_.data(), {weeks_}).clone();  // EXPECT: torch-blob-dtype
  }

  int64_t stores() const { return stores_; }
  int64_t weeks() const { return weeks_; }

 private:
  int64_t stores_;
  int64_t weeks_;
  std::vector<double> units_;
  std::vector<float> price_;
  std::vector<int64_t> promo_;
  std::vector<double> season_;
};

torch::Tensor weeks_since_promo(const torch::Tensor& promo) {
  auto out = torch::zeros({promo.size(0), promo.size(1)});
  auto flags = promo.accessor<int64_t, 2>();
  auto ages = out.accessor<float, 2>();
  for (int64_t s = 0; s < promo.size(0); ++s) {
    float age = 0.0f;
    for (int64_t w = 0; w < promo.size(1); ++w) {
      age = flags[s][w] != 0 ? 0.0f : age + 1.0f;
      ages[s][w] = age / 10.0f;  // RIGHT: torch-element-access-in-loop (accessors, sequential scan)
    }
  }
  return out;
}

torch::Tensor build_features(SalesTable& table) {
  const auto units = table.units() / 20.0;
  const auto price = table.price();
  const auto promo = table.promo();
  const auto ages = weeks_since_promo(promo);
  const auto season = table.season();
  auto features = torch::zeros({table.stores(), table.weeks(), kFeatures});
  features.select(2, 1).copy_(price);
  features.select(2, 2).copy_(promo);
  features.select(2, 3).copy_(ages);
  features.select(2, 4).copy_(season.expand({table.stores(), table.weeks()}));
  for (int64_t s = 0; s < table.stores(); ++s) {
    for (int64_t w = 1; w < table.weeks(); ++w) {
      features[s][w][0] = units[s][w - 1];  // EXPECT: torch-element-access-in-loop
    }
  }
  return features;
}

struct Batch {
  torch::Tensor features;  // [B, T, kFeatures]
  torch::Tensor units;     // [B, T]
  torch::Tensor bucket;    // [B, T]
};

struct Forecast {
  torch::Tensor probs;  // [B, T, buckets]
  torch::Tensor point;  // [B, T]
  torch::Tensor state;
};

class DemandNetImpl : public torch::nn::Module {
 public:
  explicit DemandNetImpl(const Config& cfg)
      : gru_(register_module("gru", torch::nn::GRU(torch::nn::GRUOptions(kFeatures, cfg.hidden).batch_first(true)))),
        drop_(register_module("drop", torch::nn::Dropout(0.1))),
        bucket_head_(register_module("bucket_head", torch::nn::Linear(cfg.hidden, cfg.buckets))),
        point_head_(register_module("point_head", torch::nn::Linear(cfg.hidden, 1))) {}

  Forecast forward(const torch::Tensor& features, const torch::Tensor& state = {}) {
    torch::Tensor sequence, next;
    std::tie(sequence, next) = gru_->forward(features, state);
    auto hidden = drop_(sequence);
    return {torch::softmax(bucket_head_(hidden), -1), torch::softplus(point_head_(hidden).squeeze(-1)), next};
  }

 private:
  torch::nn::GRU gru_;
  torch::nn::Dropout drop_;
  torch::nn::Linear bucket_head_, point_head_;
};
TORCH_MODULE(DemandNet);

struct Series {
  torch::Tensor features;
  torch::Tensor units;
  torch::Tensor bucket;
};

Series prepare(SalesTable& table, const Config& cfg) {
  auto units = table.units() / 20.0;
  auto edges = torch::linspace(units.min().item<double>(), units.max().item<double>(), cfg.buckets + 1);
  auto bucket = torch::bucketize(units, edges.slice(0, 1, cfg.buckets));
  return {build_features(table), units, bucket};
}

std::vector<Batch> windows(const Series& series, int64_t first, int64_t last, const Config& cfg) {
  std::vector<Batch> out;
  for (int64_t w = first; w + cfg.window <= last; w += cfg.window / 2) {
    out.push_back({series.features.slice(1, w, w + cfg.window), series.units.slice(1, w, w + cfg.window),
                   series.bucket.slice(1, w, w + cfg.window)});  // RIGHT: torch-view-pins-storage (the series itself lives on)
  }
  return out;
}

torch::Tensor forecast_loss(const Forecast& out, const Batch& batch, double point_weight) {
  auto log_probs = torch::log(out.probs);  // EXPECT: torch-unfused-operation
  auto nll = torch::nll_loss(log_probs.flatten(0, 1), batch.bucket.flatten());
  return nll + point_weight * F::smooth_l1_loss(out.point, batch.units);
}

std::unique_ptr<torch::optim::Adam> make_optimizer(const DemandNet& model, double learning_rate) {
  return std::make_unique<torch::optim::Adam>(model->parameters(), torch::optim::AdamOptions(learning_rate));
}

struct EpochStats {
  torch::Tensor loss_sum = torch::zeros({});
  torch::Tensor abs_error = torch::zeros({});
  int64_t batches = 0;

  double mean_loss() const { return loss_sum.item<double>() / static_cast<double>(std::max<int64_t>(batches, 1)); }
};

class ForecastTrainer {
 public:
  using Report = std::function<void(const std::string&, double)>;

  ForecastTrainer(const Config& cfg, Report report) : cfg_(cfg), report_(std::move(report)) {}

  void train_epoch(DemandNet& model, torch::optim::Optimizer& optimizer, const std::vector<Batch>& batches,
                   EpochStats& stats) {
    model->train();
    int64_t pending = 0;
    optimizer.zero_grad();
    for (const auto& batch : batches) {
      auto out = model->forward(batch.features);
      auto loss = forecast_loss(out, batch, cfg_.point_weight);
      (loss / static_cast<double>(cfg_.accumulate)).backward();  // RIGHT: torch-missing-zero-grad (two batches are accumulated, apply() clears)
      stats.loss_sum += loss;  // EXPECT: torch-retained-graph
      stats.abs_error += (out.point - batch.units).abs().mean().detach();  // RIGHT: torch-retained-graph (detached)
      ++stats.batches;
      if (++pending == cfg_.accumulate) {
        apply(model, optimizer);
        pending = 0;
      }
    }
    if (pending > 0) apply(model, optimizer);
  }

  // Reads a long history in segments; the recurrent state goes from one segment to the next.
  double train_continuous(DemandNet& model, torch::optim::Optimizer& optimizer, const Series& series) {
    model->train();
    torch::Tensor state;
    torch::Tensor last = torch::zeros({});
    for (const auto& segment : segments(series)) {
      optimizer.zero_grad();
      auto out = model->forward(segment.features, state);
      auto loss = forecast_loss(out, segment, cfg_.point_weight);
      loss.backward();
      optimizer.step();
      state = carry(out);  // RIGHT: torch-undetached-hidden-state (carry detaches)
      last = loss.detach();
    }
    return last.item<double>();
  }

  double validation_error(DemandNet& model, const std::vector<Batch>& batches) {
    if (batches.empty()) return 0.0;
    model->eval();  // RIGHT: torch-eval-mode-not-restored (every training function starts with train())
    double total = 0.0;
    for (const auto& batch : batches) {
      auto out = model->forward(batch.features);  // EXPECT: torch-missing-no-grad
      total += F::l1_loss(out.point, batch.units).item<double>();
    }
    return total / static_cast<double>(batches.size());
  }

  double cross_validate(const Series& series) {
    double total = 0.0;
    for (int64_t fold = 0; fold < cfg_.folds; ++fold) {
      const int64_t split = series.units.size(1) * (fold + 2) / (cfg_.folds + 2);
      DemandNet model(cfg_);
      auto optimizer = make_optimizer(model, cfg_.learning_rate);  // RIGHT: torch-optimizer-in-loop (each fold has a model of its own)
      EpochStats stats;
      train_epoch(model, *optimizer, windows(series, 0, split, cfg_), stats);
      total += validation_error(model, windows(series, split - cfg_.window, series.units.size(1), cfg_));
    }
    return total / static_cast<double>(cfg_.folds);
  }

  void fit(DemandNet& model, const Series& series) {
    const auto batches = windows(series, 0, series.units.size(1), cfg_);
    for (int64_t epoch = 0; epoch < cfg_.epochs; ++epoch) {
      auto optimizer = make_optimizer(model, cfg_.learning_rate * std::pow(cfg_.decay, epoch));  // EXPECT: torch-optimizer-in-loop
      EpochStats stats;
      train_epoch(model, *optimizer, batches, stats);
      report_("epoch " + std::to_string(epoch), stats.mean_loss());
    }
    auto optimizer = make_optimizer(model, cfg_.learning_rate * 0.1);
    report_("continuous", train_continuous(model, *optimizer, series));
    torch::save(model, cfg_.checkpoint);
  }

  // Point forecasts for every possible origin, [stores, origins].
  torch::Tensor backtest(DemandNet& model, const Series& series) {
    torch::NoGradGuard no_grad;
    model->eval();
    torch::Tensor forecasts;
    for (int64_t w = cfg_.window; w < series.units.size(1); ++w) {
      auto point = model->forward(series.features.slice(1, w - cfg_.window, w)).point.slice(1, cfg_.window - 1);
      forecasts = forecasts.defined() ? torch::cat({forecasts, point}, 1) : point;  // EXPECT: torch-cat-in-loop
    }
    return forecasts;
  }

  // Feeds the forecasts back as lagged units.
  std::vector<torch::Tensor> roll_out(DemandNet& model, const Series& series) {
    torch::NoGradGuard no_grad;
    model->eval();
    auto window = series.features.slice(1, series.features.size(1) - cfg_.window);
    std::vector<torch::Tensor> path;
    for (int64_t step = 0; step < cfg_.horizon; ++step) {
      auto point = last_point(model, window);
      auto next = window.slice(1, cfg_.window - 1).clone();
      next.select(2, 0).copy_(point.unsqueeze(1));
      window = torch::cat({window.slice(1, 1), next}, 1);  // RIGHT: torch-cat-in-loop (a sliding window of fixed length)
      path.push_back(point);
    }
    return path;
  }

 private:
  void apply(DemandNet& model, torch::optim::Optimizer& optimizer) {
    torch::nn::utils::clip_grad_norm_(model->parameters(), 1.0);
    optimizer.step();
    optimizer.zero_grad();
  }

  std::vector<Batch> segments(const Series& series) const {
    std::vector<Batch> out;
    for (int64_t w = 0; w + cfg_.window <= series.units.size(1); w += cfg_.window) {
      out.push_back({series.features.slice(1, w, w + cfg_.window), series.units.slice(1, w, w + cfg_.window),
                     series.bucket.slice(1, w, w + cfg_.window)});
    }
    return out;
  }

  static torch::Tensor carry(const Forecast& out) { return out.state.detach(); }

  torch::Tensor last_point(DemandNet& model, const torch::Tensor& window) {
    return model->forward(window).point.select(1, -1).clone();  // RIGHT: torch-missing-no-grad (roll_out holds the guard)
  }

  Config cfg_;
  Report report_;
};

double ensemble_nll(std::vector<DemandNet>& members, const Batch& batch) {
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> probs;
  for (auto& member : members) {
    member->eval();
    probs.push_back(member->forward(batch.features).probs);
  }
  auto mixture = torch::log(torch::stack(probs).mean(0));  // RIGHT: torch-unfused-operation (the logarithm of a mean over members)
  return torch::nll_loss(mixture.flatten(0, 1), batch.bucket.flatten()).item<double>();
}

}  // namespace demand

int main() {
  torch::manual_seed(5);
  const demand::Config cfg;
  try {
    demand::SalesTable table(cfg);
    const auto series = demand::prepare(table, cfg);
    demand::ForecastTrainer trainer(
        cfg, [](const std::string& what, double value) { std::cout << what << ": " << value << "\n"; });
    std::cout << "cross validation MAE " << trainer.cross_validate(series) << "\n";
    std::vector<demand::DemandNet> members;
    for (int m = 0; m < 2; ++m) {
      members.emplace_back(cfg);
      trainer.fit(members.back(), series);
    }
    const auto forecasts = trainer.backtest(members.front(), series);
    std::cout << "backtest " << forecasts.sizes() << "\n";
    for (const auto& point : trainer.roll_out(members.front(), series)) {
      std::cout << "mean demand " << point.mean().item<double>() * 20.0 << "\n";
    }
    const auto batches = demand::windows(series, 0, cfg.weeks, cfg);
    std::cout << "ensemble NLL " << demand::ensemble_nll(members, batches.front()) << "\n";
  } catch (const std::exception& error) {
    std::cerr << "forecast failed: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
