// A network learns to tell the length of a vector. Its passes run under
// autocast, which computes them in half precision, and the loss behind it: the
// backward() of mse_loss refuses a target in float beside it, in each step, so
// that nothing is ever trained.
// --size: that many times as many steps.
#include "measure.h"

#include <ATen/autocast_mode.h>

namespace {

torch::nn::Sequential network() {
  return torch::nn::Sequential(torch::nn::Linear(4, 32), torch::nn::ReLU(),
                               torch::nn::Linear(32, 1));
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  auto net = network();
  net->to(device);
  torch::optim::Adam optimizer(net->parameters(), 0.01);
  const auto inputs = torch::randn({64, 4}, device);
  const auto lengths = inputs.square().sum(1, /*keepdim=*/true).sqrt();
  int64_t trained = 0;
  for (int64_t step = 0; step < 100 * measure::size(); ++step) {
    optimizer.zero_grad();
    at::autocast::set_autocast_enabled(device.type(), true);
    const auto guess = net->forward(inputs);
    at::autocast::set_autocast_enabled(device.type(), false);
    at::autocast::clear_cache();
    try {
      const auto loss = torch::mse_loss(guess.to(torch::kFloat), lengths);
      loss.backward();                                   // THROWS
      optimizer.step();
      ++trained;
    } catch (const c10::Error &) {
      // The next step may do better.
    }
  }
  torch::NoGradGuard no_grad;
  measure::value("trained-steps", double(trained));
  measure::value(
      "error", torch::mse_loss(net->forward(inputs), lengths).item<double>());
  return measure::finish();
}
