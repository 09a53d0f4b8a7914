// Images are brought to the range from -1 to 1 before a network looks at them.
// Each of four operations makes a tensor for the next one, and the expression
// keeps all of them until it ends.
// --size: that many times as many images.
//
// MEASURE inference peak-bytes factor=1.9 grows=linear
// MEASURE inference allocated-bytes factor=2 grows=linear
// MEASURE inference allocations more=3 grows=constant
// MEASURE inference milliseconds report
// MEASURE process brightness same
#include "measure.h"

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  const torch::NoGradGuard no_grad;
  torch::nn::Conv2d filter(
      torch::nn::Conv2dOptions(3, 1, 3).stride(8).bias(false));
  filter->to(device);
  const auto images = torch::randint(
      256, {4 * measure::size(), 3, 128, 128},
      torch::dtype(torch::kByte).device(device));
  double brightness = 0;
  {
    measure::Loop loop("inference");
    for (int64_t step = 0; step < 40; ++step) {
      const auto scaled =
          images.div(255.0).sub(0.5).mul(2.5).clamp(-1, 1); // BAD
      brightness += filter(scaled).mean().item<double>();
      loop.iteration();
    }
  }
  measure::value("brightness", brightness);
  return measure::finish();
}
