// A network learns a function on a grid of points, and a moving average of what
// it returns is kept. Both tensors are made under a NoGradGuard, which says
// nothing of what is done with them later.
// --size: that many times as many steps.
#include "measure.h"

namespace {

constexpr int64_t points = 64, features = 4;

torch::Tensor make_grid(torch::Device device) {
  torch::NoGradGuard no_grad;
  return torch::rand({points, features}, device);
}

torch::Tensor make_average(torch::Device device) {
  torch::NoGradGuard no_grad;
  return torch::zeros({points, 1}, device);
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  torch::nn::Linear net(features, 1);
  net->to(device);
  torch::optim::SGD optimizer(net->parameters(), 0.2);
  const torch::Tensor grid = make_grid(device);
  torch::Tensor average = make_average(device);
  const torch::Tensor wanted = grid.sum(1, /*keepdim=*/true).clone();
  int64_t steps = 0;
  for (int64_t step = 0; step < 100 * measure::size(); ++step) {
    try {
      optimizer.zero_grad();
      const auto output = net->forward(grid);
      (output - wanted).square().mean().backward();
      optimizer.step();
      ++steps;
    } catch (const c10::Error &) {
      // Seen above, in the number of steps.
    }
    try {
      torch::NoGradGuard no_grad;
      average.mul_(0.9);
      average.add_(net->forward(grid), 0.1);
    } catch (const c10::Error &) {
      // Seen below, in the average.
    }
  }
  measure::value("steps", static_cast<double>(steps));
  measure::value("error", (average - wanted).abs().mean().item<double>());
  return measure::finish();
}
