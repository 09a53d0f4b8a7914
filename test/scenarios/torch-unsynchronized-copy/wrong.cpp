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

#include <vector>

namespace {

double display(torch::Device device, const std::vector<torch::Tensor> &blocks) {
  double sum = 0;
  for (const auto &block : blocks) {
    const auto readings = block.to(device);
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
  std::vector<torch::Tensor> blocks;
  for (int64_t i = 0; i < 20 * measure::size(); ++i)
    blocks.push_back(torch::rand({64}, torch::kDouble) + 1);
  measure::value("sum", display(device, blocks));
  measure::value("blocks", static_cast<double>(blocks.size()));
  return measure::finish();
}
