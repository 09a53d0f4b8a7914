// A GRU learns to forecast a wave, window by window; the state at the end of a
// window is the one at the beginning of the next. Then an LSTM cell watches the waves.
#include "measure.h"

namespace {

constexpr int64_t windows = 60;
constexpr int64_t length = 16; // Samples in a window.
constexpr int64_t waves = 8;   // That are forecast side by side.
constexpr int64_t hidden = 32;

struct ForecasterImpl : torch::nn::Module {
  ForecasterImpl() {
    register_module("gru", gru);
    register_module("head", head);
  }

  std::tuple<torch::Tensor, torch::Tensor> forward(const torch::Tensor &window,
                                                   const torch::Tensor &state) {
    const auto [output, last] = gru->forward(window, state);
    return {head->forward(output), last};
  }

  torch::nn::GRU gru{1, hidden};
  torch::nn::Linear head{hidden, 1};
};
TORCH_MODULE(Forecaster);

// The waves, as {windows * length + 1, waves, 1}.
torch::Tensor make_waves(torch::Device device) {
  const auto time =
      torch::arange(windows * length + 1, device).view({-1, 1, 1});
  const auto phase = torch::arange(waves, device).view({1, -1, 1});
  return torch::sin(0.1 * time + phase);
}

struct Training {
  explicit Training(torch::Device device) : data(make_waves(device)) {
    model->to(device);
  }

  torch::Tensor window(int64_t i) const {
    return data.narrow(0, i * length, length);
  }
  torch::Tensor target(int64_t i) const {
    return data.narrow(0, i * length + 1, length);
  }
  torch::Tensor initial() const {
    return torch::zeros({1, waves, hidden}, data.options());
  }

  torch::Tensor data;
  Forecaster model;
  torch::optim::SGD optimizer{model->parameters(), 0.05};
};

// How many windows are learned before an exception ends it.
int64_t windows_learned(Training &training) {
  int64_t learned = 0;
  try {
    torch::Tensor output, state = training.initial();
    for (int64_t i = 0; i < windows; ++i) {
      training.optimizer.zero_grad();
      std::tie(output, state) =
          training.model->forward(training.window(i), state);
      const auto loss = torch::mse_loss(output, training.target(i));
      loss.backward();
      state = state.detach();
      training.optimizer.step();
      ++learned;
    }
  } catch (const c10::Error &) {
  }
  return learned;
}

// The graph is retained, so nothing is thrown.
double loss_of_last(Training &training) {
  torch::Tensor output, state = training.initial();
  double last = 0;
  measure::Loop loop("retained");
  for (int64_t i = 0; i < windows; ++i) {
    training.optimizer.zero_grad();
    std::tie(output, state) =
        training.model->forward(training.window(i), state);
    const auto loss = torch::mse_loss(output, training.target(i));
    loss.backward({}, /*retain_graph=*/true);
    state = state.detach();
    training.optimizer.step();
    last = loss.item<double>();
    loop.iteration();
  }
  return last;
}

// An LSTM cell that was trained elsewhere.
struct Cell {
  explicit Cell(torch::Device device)
      : input((torch::randn({4 * hidden, 1}, device) * 0.2).requires_grad_()),
        recurrent((torch::randn({4 * hidden, hidden}, device) * 0.2)
                      .requires_grad_()) {}

  std::tuple<torch::Tensor, torch::Tensor>
  next(const torch::Tensor &sample,
       const std::tuple<torch::Tensor, torch::Tensor> &state) const {
    return torch::lstm_cell(sample, {std::get<0>(state), std::get<1>(state)},
                            input, recurrent);
  }

  torch::Tensor input, recurrent;
};

// Watches the waves, sample by sample, without a guard: the mean activation.
double mean_activation(const torch::Tensor &data) {
  const Cell cell(data.device());
  auto state = std::make_tuple(torch::zeros({waves, hidden}, data.options()),
                               torch::zeros({waves, hidden}, data.options()));
  double sum = 0;
  measure::Loop loop("watched");
  for (int64_t t = 0; t < data.size(0); ++t) {
    state = cell.next(data[t], state);
    state = std::make_tuple(std::get<0>(state).detach(),
                            std::get<1>(state).detach());
    sum += std::get<0>(state).abs().mean().item<double>();
    loop.iteration();
  }
  return sum / static_cast<double>(data.size(0));
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  Training training(device);
  const int64_t learned = windows_learned(training);
  const double loss = loss_of_last(training);
  const double activation = mean_activation(training.data);
  measure::value("windows_learned", static_cast<double>(learned));
  measure::value("loss_of_last", loss);
  measure::value("mean_activation", activation);
  return measure::finish();
}
