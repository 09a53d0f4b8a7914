// Points are put into clusters: the distance of each point from each centre.
// --size: that many times as many points.
#include "measure.h"

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  const torch::NoGradGuard no_grad;
  const int64_t count = 2048 * measure::size(), clusters = 16;
  const auto points = torch::randn({count, 8}, device);
  auto centres = torch::randn({clusters, 8}, device);
  torch::Tensor nearest;
  {
    measure::Loop loop("clustering");
    for (int64_t step = 0; step < 40; ++step) {
      const auto each = points.unsqueeze(1).expand({-1, clusters, -1});
      const auto all = centres.unsqueeze(0).expand({count, -1, -1});
      const auto distances = (each - all).square().sum(2);
      nearest = distances.amin(1);
      const auto chosen = distances.argmin(1);
      const auto sums = torch::zeros({clusters, 8}, device);
      sums.index_add_(0, chosen, points);
      const auto counts = torch::bincount(chosen, {}, clusters);
      centres = sums / counts.clamp_min(1).view({-1, 1});
      loop.iteration();
    }
  }
  measure::value("spread", nearest.mean().item<double>());
  return measure::finish();
}
