// A sensor's readings are averaged for a display: an accelerator holds them, the host gets a
// copy of each block and goes on at once, and sums up what has not arrived. The accelerator
// is one that every machine has, with memory of the host (support/pretend.h): it makes such
// copies when somebody waits for it, and not before.
// --size: that many times as many blocks.
//
// MEASURE process sum differs=1000
// MEASURE process blocks same
#include "measure.h"
#include "pretend.h"

namespace {

double display(torch::Device device, const torch::Tensor &sensor) {
  double sum = 0;
  for (int64_t i = 0; i < sensor.size(0); ++i) {
    const auto readings = sensor[i].to(device);
    const auto host = readings.to(torch::kCPU, /*non_blocking=*/true); // BAD
    sum += host.sum().item<double>();
  }
  return sum;
}

} // namespace

int main(int argc, char **argv) {
  measure::start(argc, argv);
  const torch::Device device = pretend::accelerator();
  torch::manual_seed(1);
  const auto sensor = torch::rand({20 * measure::size(), 64}, torch::kDouble) + 1;
  measure::value("sum", display(device, sensor));
  measure::value("blocks", static_cast<double>(sensor.size(0)));
  return measure::finish();
}
