// Forecasts the hourly load of a synthetic power grid: a GRU reads two days of
// history, and a linear head gives the next twelve hours for every station.
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int64_t kStations = 96;
constexpr int64_t kHours = 24 * 120;
constexpr int64_t kHistory = 48;
constexpr int64_t kHorizon = 12;
constexpr int64_t kBatch = 48;
constexpr int64_t kHidden = 112;

// Load of every station over time: [stations, hours, features]. Features are
// the load itself, the sine and the cosine of the hour of the day.
torch::Tensor simulateGrid() {
  const double pi = std::acos(-1.0);
  const torch::Tensor hour = torch::arange(kHours, torch::kFloat);
  const torch::Tensor day = hour * (2.0 * pi / 24.0);
  const torch::Tensor week = hour * (2.0 * pi / (24.0 * 7.0));
  const torch::Tensor phase = torch::rand({kStations, 1}) * 2.0;
  const torch::Tensor level = torch::rand({kStations, 1}) + 0.5;
  torch::Tensor load = torch::sin(day.unsqueeze(0) + phase) * level +
                       torch::cos(week.unsqueeze(0) + phase) * 0.4;
  load = load + torch::randn({kStations, kHours}) * 0.1;
  const torch::Tensor sine = torch::sin(day).expand({kStations, kHours});
  const torch::Tensor cosine = torch::cos(day).expand({kStations, kHours});
  return torch::stack({load, sine, cosine}, 2).contiguous();
}

struct Window {
  torch::Tensor past;
  torch::Tensor future;
};

class WindowSampler {
public:
  WindowSampler(torch::Tensor grid, int64_t first, int64_t last)
      : grid_(std::move(grid)), first_(first), last_(last) {}

  Window draw() const {
    std::vector<torch::Tensor> past, future;
    past.reserve(kBatch);
    future.reserve(kBatch);
    const torch::Tensor station = torch::randint(kStations, {kBatch});
    const torch::Tensor start =
        torch::randint(first_, last_ - kHistory - kHorizon, {kBatch});
    for (int64_t i = 0; i < kBatch; ++i) {
      const torch::Tensor series = grid_[station[i].item<int64_t>()];
      const int64_t begin = start[i].item<int64_t>();
      past.push_back(series.narrow(0, begin, kHistory));
      future.push_back(
          series.narrow(0, begin + kHistory, kHorizon).select(1, 0));
    }
    return {torch::stack(past), torch::stack(future)};
  }

private:
  torch::Tensor grid_;
  int64_t first_;
  int64_t last_;
};

struct Forecast {
  torch::Tensor load;
  torch::Tensor states;
};

struct ForecasterImpl : torch::nn::Module {
  ForecasterImpl()
      : gru(torch::nn::GRUOptions(3, kHidden).batch_first(true)),
        head(kHidden, kHorizon), skip(kHistory, kHorizon) {
    register_module("gru", gru);
    register_module("head", head);
    register_module("skip", skip);
  }

  Forecast forward(const torch::Tensor &past) {
    const torch::Tensor states = std::get<0>(gru->forward(past));
    const torch::Tensor last = states.select(1, kHistory - 1);
    const torch::Tensor direct = skip->forward(past.select(2, 0));
    return {head->forward(last) + direct, states};
  }

  torch::nn::GRU gru;
  torch::nn::Linear head;
  torch::nn::Linear skip;
};
TORCH_MODULE(Forecaster);

// Watches the training from outside: how far the forecasts are off, and how
// far the hidden states have moved from where they were at the start. Both are
// moving averages, so that single odd batches do not show.
class TrainingMonitor {
public:
  explicit TrainingMonitor(double keep) : keep_(keep) {}

  void observe(const Forecast &forecast, const torch::Tensor &truth) {
    const double error =
        (forecast.load.detach() - truth).abs().mean().item<double>();
    error_ = seen_ == 0 ? error : error_ * keep_ + error * (1.0 - keep_);
    if (seen_ == 0) {
      origin_ = forecast.states.detach().mean(std::vector<int64_t>{0, 1});
      drift_ = torch::zeros({});
    }
    blend(forecast.states);
    ++seen_;
  }

  std::string summary() const {
    char text[96];
    std::snprintf(text, sizeof text, "error %.4f  drift %.5f", error_,
                  drift_.item<double>());
    return text;
  }

private:
  void blend(const torch::Tensor &states) {
#ifdef MENDED
    const torch::Tensor moved = (states.detach() - origin_).square().mean();
#else
    const torch::Tensor moved = (states - origin_).square().mean();
#endif
    drift_ = drift_ * keep_ + moved * (1.0 - keep_);
  }

  double keep_;
  double error_ = 0.0;
  int64_t seen_ = 0;
  torch::Tensor origin_;
  torch::Tensor drift_;
};

double validate(Forecaster &model, const WindowSampler &sampler) {
  torch::NoGradGuard guard;
  model->eval();
  double total = 0.0;
  constexpr int kRounds = 4;
  for (int round = 0; round < kRounds; ++round) {
    const Window window = sampler.draw();
    const Forecast forecast = model->forward(window.past);
    total += torch::mse_loss(forecast.load, window.future).item<double>();
  }
  model->train();
  return total / kRounds;
}

} // namespace

int main(int argc, char **argv) {
  int64_t iterations = 240;
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], "--iterations") == 0)
      iterations = std::atoll(argv[i + 1]);

  torch::manual_seed(23);
  const torch::Tensor grid = simulateGrid();
  const int64_t split = kHours * 3 / 4;
  const WindowSampler train(grid, 0, split);
  const WindowSampler recent(grid, split, kHours);

  Forecaster model;
  torch::optim::AdamW optimizer(model->parameters(),
                                torch::optim::AdamWOptions(2e-3));
  TrainingMonitor monitor(0.98);

  for (int64_t step = 1; step <= iterations; ++step) {
    const Window window = train.draw();
    optimizer.zero_grad();
    const Forecast forecast = model->forward(window.past);
    const torch::Tensor loss = torch::smooth_l1_loss(
        forecast.load, window.future, torch::Reduction::Mean, 0.5);
    loss.backward();
    torch::nn::utils::clip_grad_norm_(model->parameters(), 1.0);
    optimizer.step();
    monitor.observe(forecast, window.future);
    if (step % 40 == 0)
      std::printf("step %4lld  %s  validation %.4f\n",
                  static_cast<long long>(step), monitor.summary().c_str(),
                  validate(model, recent));
  }
  return 0;
}
