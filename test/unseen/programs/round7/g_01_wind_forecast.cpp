// Day-ahead power forecasts for a wind farm. A GRU encoder reads the recent
// SCADA history of a turbine, an autoregressive decoder emits power quantiles.
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace wind {

constexpr int64_t kFeatures = 5;  // speed, sin(dir), cos(dir), temperature, power

struct ForecastConfig {
  int64_t history = 24;
  int64_t horizon = 6;
  int64_t hidden = 24;
  int64_t turbines = 3;
  int64_t hours = 240;
  int64_t epochs = 3;
  int64_t batch_size = 32;
  double learning_rate = 3e-3;
  double dropout = 0.2;
  std::vector<double> quantiles{0.1, 0.5, 0.9};
  std::string scada_file;
  std::string nacelle_log;
  bool stateful = false;

  static ForecastConfig from_args(int argc, char** argv) {
    ForecastConfig cfg;
    for (int i = 1; i < argc; ++i) {
      const std::string arg = argv[i];
      if (arg == "--stateful") {
        cfg.stateful = true;
      } else if (arg == "--scada" && i + 1 < argc) {
        cfg.scada_file = argv[++i];
      } else if (arg == "--nacelle" && i + 1 < argc) {
        cfg.nacelle_log = argv[++i];
      } else if (arg == "--epochs" && i + 1 < argc) {
        cfg.epochs = std::stoll(argv[++i]);
      }
    }
    return cfg;
  }
};

// [hours, kFeatures]; the last column is the normalized power output.
using Series = torch::Tensor;

Series read_scada(const std::string& path) {
  std::ifstream in(path);
  TORCH_CHECK(in, "cannot open ", path);
  std::vector<float> values;
  std::string line;
  while (std::getline(in, line)) {
    std::stringstream row(line);
    std::string cell;
    while (std::getline(row, cell, ',')) values.push_back(std::stof(cell));
  }
  const auto hours = static_cast<int64_t>(values.size()) / kFeatures;
  return torch::from_blob(values.data(), {hours, kFeatures}, torch::kFloat32);  // EXPECT: torch-blob-lifetime
}

// The nacelle anemometer writes raw doubles, one record per ten minutes.
torch::Tensor read_nacelle_log(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  TORCH_CHECK(in, "cannot open ", path);
  std::vector<double> speeds;
  for (double v = 0; in.read(reinterpret_cast<char*>(&v), sizeof v);) speeds.push_back(v);
  const auto n = static_cast<int64_t>(speeds.size());
  auto raw = torch::from_blob(speeds.data(), {n}, torch::kFloat64);
  return raw.to(torch::kFloat32);  // RIGHT: torch-blob-lifetime
}

Series synthesize(int64_t turbine, int64_t hours) {
  auto t = torch::arange(hours, torch::kFloat32);
  auto speed = 8.0 + 3.0 * torch::sin(t * (2.0 * M_PI / 24.0) + 0.4 * turbine) + 0.8 * torch::randn({hours});
  speed.clamp_(0.0, 25.0);  // RIGHT: torch-discarded-result
  auto direction = 0.02 * t + 0.1 * turbine;
  auto temperature = torch::sin(t * (2.0 * M_PI / 24.0) - 1.0);
  auto power = (speed / 12.0).pow(3).clamp(0.0, 1.0);
  return torch::stack({speed / 25.0, torch::sin(direction), torch::cos(direction), temperature, power}, 1);
}

class WindowDataset : public torch::data::datasets::Dataset<WindowDataset> {
 public:
  WindowDataset(Series series, int64_t history, int64_t horizon)
      : series_(std::move(series)), history_(history), horizon_(horizon) {}

  torch::data::Example<> get(size_t index) override {
    const auto start = static_cast<int64_t>(index);
    auto past = series_.narrow(0, start, history_);
    auto future = series_.narrow(0, start + history_, horizon_).select(1, kFeatures - 1);
    return {past, future};  // RIGHT: torch-view-pins-storage
  }

  torch::optional<size_t> size() const override {
    return static_cast<size_t>(series_.size(0) - history_ - horizon_ + 1);
  }

 private:
  Series series_;
  int64_t history_;
  int64_t horizon_;
};

class QuantileForecasterImpl : public torch::nn::Cloneable<QuantileForecasterImpl> {
 public:
  explicit QuantileForecasterImpl(const ForecastConfig& cfg)
      : hidden_(cfg.hidden),
        horizon_(cfg.horizon),
        outputs_(static_cast<int64_t>(cfg.quantiles.size())),
        drop_(cfg.dropout) {
    reset();
  }

  void reset() override {
    encoder_ = register_module(
        "encoder", torch::nn::GRU(torch::nn::GRUOptions(kFeatures, hidden_).batch_first(true)));
    cell_ = register_module("cell", torch::nn::GRUCell(outputs_, hidden_));
    head_ = register_module("head", torch::nn::Linear(hidden_, outputs_));
    dropout_ = register_module("dropout", torch::nn::Dropout(drop_));
  }

  torch::Tensor forward(const torch::Tensor& history) {
    return std::get<0>(forward_with_state(history, {}));
  }

  std::pair<torch::Tensor, torch::Tensor> forward_with_state(const torch::Tensor& history,
                                                             const torch::Tensor& state) {
    auto next = std::get<1>(encoder_->forward(history, state));
    return {decode(dropout_(next.select(0, 0))), next};
  }

  torch::Tensor advance(const torch::Tensor& history, const torch::Tensor& state) {
    return std::get<1>(encoder_->forward(history, state));
  }

  torch::Tensor decode_from(const torch::Tensor& state) { return decode(state.select(0, 0)); }

 private:
  torch::Tensor decode(torch::Tensor h) {
    std::vector<torch::Tensor> steps;
    steps.reserve(static_cast<size_t>(horizon_));
    auto previous = head_(h);
    for (int64_t step = 0; step < horizon_; ++step) {
      h = cell_(previous, h);  // RIGHT: torch-undetached-hidden-state
      previous = head_(h);
      steps.push_back(previous);
    }
    return torch::stack(steps, 1);  // RIGHT: torch-cat-in-loop
  }

  int64_t hidden_;
  int64_t horizon_;
  int64_t outputs_;
  double drop_;
  torch::nn::GRU encoder_{nullptr};
  torch::nn::GRUCell cell_{nullptr};
  torch::nn::Linear head_{nullptr};
  torch::nn::Dropout dropout_{nullptr};
};
TORCH_MODULE(QuantileForecaster);

torch::Tensor pinball_loss(const torch::Tensor& prediction,
                           const torch::Tensor& target,
                           const std::vector<double>& quantiles) {
  auto q = torch::tensor(quantiles, prediction.options().requires_grad(false));  // EXPECT: torch-allocation-in-loop
  auto error = target.unsqueeze(-1) - prediction;
  return torch::max(q * error, (q - 1.0) * error).mean();
}

class Trainer {
 public:
  Trainer(ForecastConfig cfg, QuantileForecaster model, torch::Device device)
      : cfg_(std::move(cfg)),
        model_(std::move(model)),
        device_(device),
        optimizer_(model_->parameters(), torch::optim::AdamOptions(cfg_.learning_rate)) {
    if (model_->parameters().front().device() == torch::kCUDA) {  // EXPECT: torch-device-comparison
      at::globalContext().setBenchmarkCuDNN(true);
    }
  }

  template <typename Loader, typename ValLoader>
  void fit(Loader& loader, ValLoader& val_loader) {
    model_->train();
    for (int64_t epoch = 0; epoch < cfg_.epochs; ++epoch) {
      auto running = torch::zeros({}, device_);
      int64_t batches = 0;
      for (auto& batch : loader) {
        auto history = batch.data.to(device_);
        auto target = batch.target.to(device_);
        auto loss = pinball_loss(model_->forward(history), target, cfg_.quantiles);
        optimizer_.zero_grad();
        loss.backward();
        torch::nn::utils::clip_grad_value_(model_->parameters(), 1.0);
        optimizer_.step();
        running += loss.detach();  // RIGHT: torch-retained-graph
        step_losses_.push_back(loss);  // EXPECT: torch-retained-graph
        ++batches;
      }
      const double train_loss = running.item<double>() / static_cast<double>(batches);
      const double val_loss = validate(val_loader);
      std::cout << "epoch " << epoch << " train " << train_loss << " val " << val_loss << '\n';
      if (val_loss < best_loss_) {
        best_loss_ = val_loss;
        remember();
      }
    }
    recall();
  }

  // One pass in temporal order, the encoder state is handed from day to day.
  double fit_in_order(const Series& series) {
    const auto data = series.to(device_);
    const auto window = cfg_.history;
    torch::Tensor carried;
    auto running = torch::zeros({}, device_);
    int64_t windows = 0;
    model_->train();
    for (int64_t at = 0; at + window + cfg_.horizon <= data.size(0); at += window) {
      auto history = data.narrow(0, at, window).unsqueeze(0);
      auto target = data.narrow(0, at + window, cfg_.horizon).select(1, kFeatures - 1).unsqueeze(0);
      auto [prediction, state] = model_->forward_with_state(history, carried);
      auto loss = pinball_loss(prediction, target, cfg_.quantiles);
      optimizer_.zero_grad();
      loss.backward();
      optimizer_.step();
      carried = state;  // EXPECT: torch-undetached-hidden-state
      running += loss.detach();
      ++windows;
    }
    return running.item<double>() / static_cast<double>(std::max<int64_t>(windows, 1));
  }

  template <typename Loader>
  double validate(Loader& loader) {
    torch::NoGradGuard no_grad;
    model_->eval();  // EXPECT: torch-eval-mode-not-restored
    auto total = torch::zeros({}, device_);
    int64_t batches = 0;
    for (auto& batch : loader) {
      auto prediction = model_->forward(batch.data.to(device_));
      total += pinball_loss(prediction, batch.target.to(device_), cfg_.quantiles);  // RIGHT: torch-retained-graph
      ++batches;
    }
    return batches == 0 ? 0.0 : total.item<double>() / static_cast<double>(batches);
  }

  void report_progress() const {
    if (step_losses_.empty()) return;
    auto curve = torch::stack(step_losses_).detach().cpu();
    const auto* values = curve.data_ptr<float>();  // RIGHT: torch-dangling-data
    std::cout << "loss curve";
    for (int64_t i = 0; i < curve.numel(); i += std::max<int64_t>(1, curve.numel() / 6)) {
      std::cout << ' ' << values[i];
    }
    std::cout << '\n';
  }

 private:
  void remember() {
    for (const auto& item : model_->named_parameters()) {
      best_[item.key()] = item.value().detach().clone();  // RIGHT: torch-parameter-copy
    }
  }

  void recall() {
    torch::NoGradGuard no_grad;
    for (auto& item : model_->named_parameters()) {
      const auto found = best_.find(item.key());
      if (found != best_.end()) item.value().copy_(found->second);
    }
  }

  ForecastConfig cfg_;
  QuantileForecaster model_;
  torch::Device device_;
  torch::optim::Adam optimizer_;
  std::vector<torch::Tensor> step_losses_;
  std::map<std::string, torch::Tensor> best_;
  double best_loss_ = std::numeric_limits<double>::infinity();
};

// Short adaptation of the farm model to every single turbine.
std::vector<QuantileForecaster> specialize(QuantileForecaster& base,
                                           const std::vector<Series>& farm,
                                           const ForecastConfig& cfg,
                                           torch::Device device) {
  std::vector<QuantileForecaster> specialists;
  for (const auto& series : farm) {
    QuantileForecaster local(std::dynamic_pointer_cast<QuantileForecasterImpl>(base->clone()));
    torch::optim::SGD optimizer(local->parameters(), torch::optim::SGDOptions(1e-2));  // RIGHT: torch-optimizer-in-loop
    const auto windows = series.unfold(0, cfg.history + cfg.horizon, cfg.horizon).transpose(1, 2).to(device);
    const auto history = windows.narrow(1, 0, cfg.history);
    const auto target = windows.narrow(1, cfg.history, cfg.horizon).select(2, kFeatures - 1);
    local->train();
    for (int step = 0; step < 4; ++step) {
      optimizer.zero_grad();
      pinball_loss(local->forward(history), target, cfg.quantiles).backward();
      optimizer.step();
    }
    local->eval();
    specialists.push_back(local);
  }
  return specialists;
}

torch::Tensor rolling_forecast(QuantileForecaster& model,
                               const torch::Tensor& data,
                               const ForecastConfig& cfg) {
  torch::NoGradGuard no_grad;
  const auto median = static_cast<int64_t>(cfg.quantiles.size() / 2);
  torch::Tensor forecast;
  for (int64_t origin = 0; origin + cfg.history < data.size(0); origin += cfg.horizon) {
    auto window = data.narrow(0, origin, cfg.history).unsqueeze(0);
    auto power = model->forward(window).select(-1, median).squeeze(0);
    power.clamp(0.0, 1.0);  // EXPECT: torch-discarded-result
    forecast = forecast.defined() ? torch::cat({forecast, power}) : power;  // EXPECT: torch-cat-in-loop
  }
  return forecast;
}

torch::Tensor nowcast(QuantileForecaster& model, const torch::Tensor& data, const ForecastConfig& cfg) {
  torch::NoGradGuard no_grad;
  torch::Tensor state;
  for (int64_t at = 0; at + cfg.history <= data.size(0); at += cfg.history) {
    state = model->advance(data.narrow(0, at, cfg.history).unsqueeze(0), state);  // RIGHT: torch-undetached-hidden-state
  }
  return model->decode_from(state).squeeze(0);
}

}  // namespace wind

int main(int argc, char** argv) {
  using namespace wind;
  torch::manual_seed(11);
  const auto cfg = ForecastConfig::from_args(argc, argv);
  torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  if (device == torch::kCUDA) std::cout << "running on the GPU\n";  // RIGHT: torch-device-comparison

  std::vector<Series> farm;
  for (int64_t t = 0; t < cfg.turbines; ++t) farm.push_back(synthesize(t, cfg.hours));
  if (!cfg.scada_file.empty()) farm.push_back(read_scada(cfg.scada_file));

  const auto& reference = farm.back();
  const auto split = reference.size(0) * 3 / 4;
  auto train_set = WindowDataset(reference.narrow(0, 0, split), cfg.history, cfg.horizon)
                       .map(torch::data::transforms::Stack<>());
  auto val_set = WindowDataset(reference.narrow(0, split, reference.size(0) - split), cfg.history, cfg.horizon)
                     .map(torch::data::transforms::Stack<>());
  auto train_loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      std::move(train_set), torch::data::DataLoaderOptions().batch_size(cfg.batch_size).drop_last(true));
  auto val_loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      std::move(val_set), torch::data::DataLoaderOptions().batch_size(cfg.batch_size));

  QuantileForecaster model(cfg);
  model->to(device);
  Trainer trainer(cfg, model, device);
  trainer.fit(*train_loader, *val_loader);
  if (cfg.stateful) std::cout << "in order " << trainer.fit_in_order(reference) << '\n';
  trainer.report_progress();

  auto specialists = specialize(model, farm, cfg, device);
  for (size_t t = 0; t < specialists.size(); ++t) {
    const auto data = farm[t].to(device);
    auto forecast = rolling_forecast(specialists[t], data, cfg);
    auto latest = nowcast(specialists[t], data, cfg);
    std::cout << "turbine " << t << " hours " << forecast.size(0) << " mean " << std::fixed << std::setprecision(3)
              << forecast.mean().item<double>() << " nowcast rows " << latest.size(0) << '\n';
  }
  if (!cfg.nacelle_log.empty()) {
    std::cout << "nacelle mean " << read_nacelle_log(cfg.nacelle_log).mean().item<double>() << '\n';
  }
  return 0;
}
