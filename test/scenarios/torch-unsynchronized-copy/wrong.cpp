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

double display(torch::Device device, int64_t blocks) {
  double sum = 0;
  for (int64_t i = 0; i < blocks; ++i) {
    const auto readings = torch::full({64}, 1.0 + double(i % 7), torch::kDouble).to(device);
    const auto host = readings.to(torch::kCPU, /*non_blocking=*/true); // BAD
    sum += host.sum().item<double>();
  }
  return sum;
}

} // namespace

int main(int argc, char **argv) {
  measure::start(argc, argv);
  const int64_t blocks = 20 * measure::size();
  measure::value("sum", display(pretend::accelerator(), blocks));
  measure::value("blocks", static_cast<double>(blocks));
  return measure::finish();
}
