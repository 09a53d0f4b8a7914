// Forecasts a noisy oscillation with a GRU; windows follow each other, so the state is carried along.
#include <torch/torch.h>
#include <iostream>
#include <utility>

class ForecasterImpl : public torch::nn::Module {
 public:
  explicit ForecasterImpl(int64_t hidden)
      : hidden_(hidden),
        gru_(torch::nn::GRUOptions(1, hidden).num_layers(2)),
        readout_(hidden, 1) {
    register_module("gru", gru_);
    register_module("readout", readout_);
    reset_state(1);
  }

  // x: [time, batch, 1]
  torch::Tensor forward(const torch::Tensor& x) {
    torch::Tensor out;
    std::tie(out, state_) = gru_->forward(x, state_.detach());  // RIGHT: torch-undetached-hidden-state (detached where it is read)
    return readout_->forward(out);
  }

  void reset_state(int64_t batch) { state_ = torch::zeros({2, batch, hidden_}); }

 private:
  int64_t hidden_;
  torch::nn::GRU gru_;
  torch::nn::Linear readout_;
  torch::Tensor state_;
};
TORCH_MODULE(Forecaster);

namespace {

torch::Tensor signal(int64_t n) {
  auto t = torch::arange(n, torch::kFloat32) * 0.2;
  return (t.sin() + 0.3 * (t * 2.3).cos() + 0.05 * torch::randn({n})).view({n, 1, 1});
}

double run_epoch(Forecaster& model, const torch::Tensor& series, torch::optim::Optimizer* optimizer) {
  constexpr int64_t window = 24;
  model->reset_state(1);
  double sum = 0;
  int count = 0;
  for (int64_t at = 0; at + window + 1 <= series.size(0); at += window) {
    auto x = series.narrow(0, at, window);
    auto y = series.narrow(0, at + 1, window);
    auto loss = torch::mse_loss(model->forward(x), y);  // RIGHT: torch-missing-no-grad (the validation's caller holds a guard)
    if (optimizer != nullptr) {
      optimizer->zero_grad();
      loss.backward();
      torch::nn::utils::clip_grad_norm_(model->parameters(), 1.0);
      optimizer->step();  // RIGHT: torch-missing-zero-grad (cleared three lines above)
    }
    sum += loss.item<double>();
    ++count;
  }
  return sum / count;
}

struct Quiet {  // like NoGradGuard, and switches the model
  explicit Quiet(Forecaster& m) : model(m) { model->eval(); }
  ~Quiet() { model->train(); }
  torch::NoGradGuard guard;
  Forecaster& model;
};

}  // namespace

int main() {
  torch::manual_seed(14);
  auto series = signal(1000);
  auto train = series.slice(0, 0, 800), valid = series.slice(0, 800);

  Forecaster model(24);
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(4e-3));
  torch::optim::StepLR schedule(optimizer, 4, 0.5);
  for (int epoch = 0; epoch < 6; ++epoch) {
    auto tr = run_epoch(model, train, &optimizer);
    schedule.step();  // RIGHT: torch-missing-zero-grad (a scheduler)
    Quiet quiet(model);
    std::cout << "epoch " << epoch << ": " << tr << " / " << run_epoch(model, valid, nullptr) << std::endl;
  }

  Quiet quiet(model);
  model->reset_state(1);
  auto next = model->forward(valid).slice(0, -1);
  for (int i = 0; i < 20; ++i)
    next = model->forward(next);  // RIGHT: torch-undetached-hidden-state (free running under the guard of Quiet)
  std::cout << "after 20 steps: " << next.item<float>() << std::endl;
  return 0;
}
