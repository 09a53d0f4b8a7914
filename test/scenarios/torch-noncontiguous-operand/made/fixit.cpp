// Batches go through a layer by hand, the contrast of images is measured, and a
// picture is mixed with another.
// --size: that many times as many of each.
#include "measure.h"

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  const torch::NoGradGuard no_grad;
  const int64_t steps = 40 * measure::size();

  const auto weight = torch::randn({512, 512}, device);
  const auto batch = torch::randn({32, 512}, device);
  torch::Tensor output;
  {
    measure::Loop loop("layer");
    const auto turned = weight.t().contiguous();
    for (int64_t step = 0; step < steps; ++step) {
      output = batch.mm(turned);
      loop.iteration();
    }
  }

  const auto images = torch::rand({4, 512, 512}, device);
  auto contrast = torch::zeros({}, device);
  {
    measure::Loop loop("contrast");
    for (int64_t step = 0; step < steps; ++step) {
      const auto image = images[step % 4].t().contiguous();
      contrast += (image - 0.5).square().mean();
      loop.iteration();
    }
  }

  const auto picture = torch::rand({1024, 1024}, device);
  const auto other = torch::rand({1024, 1024}, device).t();
  {
    measure::Loop loop("picture");
    for (int64_t step = 0; step < steps; ++step) {
      picture.lerp_(other, 0.1);
      loop.iteration();
    }
  }
  measure::value("output", output.abs().mean().item<double>());
  measure::value("contrast", contrast.item<double>());
  measure::value("picture", picture.mean().item<double>());
  return measure::finish();
}
