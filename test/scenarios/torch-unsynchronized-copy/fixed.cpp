#include "measure.h"
#include "pretend.h"

namespace {

double display(torch::Device device, int64_t blocks) {
  double sum = 0;
  for (int64_t i = 0; i < blocks; ++i) {
    const auto readings = torch::full({64}, 1.0 + double(i % 7), torch::kDouble).to(device);
    const auto host = readings.to(torch::kCPU);
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
