// An autoencoder is trained three times, and each time another number about the
// training is collected.
// --size: that many times as many steps.
#include "measure.h"

namespace {

struct AutoencoderImpl : torch::nn::Module {
  AutoencoderImpl() {
    register_module("encoder", encoder);
    register_module("decoder", decoder);
  }

  torch::nn::Sequential encoder{torch::nn::Linear(64, 128), torch::nn::ReLU(),
                                torch::nn::Linear(128, 32)};
  torch::nn::Sequential decoder{torch::nn::Linear(32, 128), torch::nn::ReLU(),
                                torch::nn::Linear(128, 64)};
};
TORCH_MODULE(Autoencoder);

struct Training {
  explicit Training(torch::Device device)
      : data(torch::randn({8, 64, 64}, device)) {
    model->to(device);
  }

  torch::Tensor batch(int64_t step) const { return data[step % data.size(0)]; }

  void descend(const torch::Tensor &loss) {
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }

  int64_t steps = 60 * measure::size();
  torch::Tensor data;
  Autoencoder model;
  torch::optim::SGD optimizer{model->parameters(), 0.05};
};

// Keeps every loss, for their mean at the end.
double mean_of_kept_losses(Training &training) {
  std::vector<torch::Tensor> losses;
  measure::Loop loop("kept_losses");
  for (int64_t step = 0; step < training.steps; ++step) {
    const auto batch = training.batch(step);
    const auto code = training.model->encoder->forward(batch);
    const auto loss =
        torch::l1_loss(training.model->decoder->forward(code), batch);
    training.descend(loss);
    losses.push_back(loss.detach());
    loop.iteration();
  }
  return torch::stack(losses).mean().item<double>();
}

// Adds the losses up.
double mean_of_added_losses(Training &training) {
  torch::Tensor total = torch::zeros({}, training.data.options());
  measure::Loop loop("added_losses");
  for (int64_t step = 0; step < training.steps; ++step) {
    const auto batch = training.batch(step);
    const auto code = training.model->encoder->forward(batch);
    const auto loss =
        torch::l1_loss(training.model->decoder->forward(code), batch);
    training.descend(loss);
    total += loss.detach();
    loop.iteration();
  }
  return total.item<double>() / static_cast<double>(training.steps);
}

// Watches how far the codes spread. No backward() goes through these numbers,
// so what their graphs have saved is never freed.
double spread_of_codes(Training &training) {
  std::vector<torch::Tensor> spreads;
  measure::Loop loop("watched_codes");
  for (int64_t step = 0; step < training.steps; ++step) {
    const auto batch = training.batch(step);
    const auto code = training.model->encoder->forward(batch);
    const auto loss =
        torch::l1_loss(training.model->decoder->forward(code), batch);
    training.descend(loss);
    spreads.push_back(code.var(0).mean().detach());
    loop.iteration();
  }
  return torch::stack(spreads).mean().item<double>();
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  Training training(device);
  const double kept = mean_of_kept_losses(training);
  const double added = mean_of_added_losses(training);
  const double spread = spread_of_codes(training);
  measure::value("mean_kept", kept);
  measure::value("mean_added", added);
  measure::value("spread", spread);
  return measure::finish();
}
