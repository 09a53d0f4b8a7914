// A thermal camera's frames are compared with a running background on an accelerator, which keeps a
// copy of the background each time. It copies more than it has to.
// The accelerator is one that every machine has (support/pretend.h), and no time on it means
// anything.
// --size: that many times as many frames.
//
// MEASURE frames copies factor=2 grows=constant
// MEASURE frames allocations more=2 grows=constant
// MEASURE frames synchronisations report
// MEASURE process brightness same
#include "measure.h"
#include "pretend.h"

#include <algorithm>
#include <vector>

namespace {

constexpr int64_t side = 64;

} // namespace

int main(int argc, char **argv) {
  measure::start(argc, argv);
  const torch::Device device = pretend::accelerator();
  torch::manual_seed(1);
  std::vector<double> frame(side * side);
  auto background = torch::zeros({side, side}, torch::TensorOptions(device));
  double brightness = 0;
  {
    measure::Loop loop("frames");
    for (int64_t step = 0; step < 50 * measure::size(); ++step) {
      std::fill(frame.begin(), frame.end(), static_cast<double>(step));
      const auto pixels = torch::from_blob(frame.data(), {side, side}, torch::kDouble);
      const auto floats = pixels.clone().to(torch::kFloat); // BAD
      const auto image = floats.to(device).to(device);      // BAD
      const auto kept = background.cpu().to(device);        // BAD
      background.copy_(image);
      brightness += kept.const_data_ptr<float>()[0] + image.const_data_ptr<float>()[1];
      loop.iteration();
    }
  }
  measure::value("brightness", brightness);
  return measure::finish();
}
