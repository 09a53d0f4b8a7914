// A network learns a function on a grid of points, and a moving average of what
// it returns is kept. Both tensors are made in inference mode, because making
// them needs no gradient: the layer cannot save the grid for backward(), and the
// average cannot be changed outside of inference mode, so each step throws twice.
// --size: that many times as many steps.
//
// MEASURE process exceptions at=SAVE type=c10::Error message="Inference tensors cannot be saved"
// MEASURE process exceptions at=WRITE type=c10::Error message="Inplace update to inference tensor"
// MEASURE process steps differs=10
// MEASURE process error factor=5
#include "measure.h"

namespace {

constexpr int64_t points = 64, features = 4;

torch::Tensor make_grid(torch::Device device) {
  c10::InferenceMode guard;
  return torch::rand({points, features}, device);
}

torch::Tensor make_average(torch::Device device) {
  c10::InferenceMode guard;
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
      const auto output = net->forward(grid); // BAD,SAVE
      (output - wanted).square().mean().backward();
      optimizer.step();
      ++steps;
    } catch (const c10::Error &) {
      // Seen above, in the number of steps.
    }
    try {
      torch::NoGradGuard no_grad;
      average.mul_(0.9); // BAD,WRITE
      average.add_(net->forward(grid), 0.1);
    } catch (const c10::Error &) {
      // Seen below, in the average.
    }
  }
  measure::value("steps", static_cast<double>(steps));
  measure::value("error", (average - wanted).abs().mean().item<double>());
  return measure::finish();
}
