// A controller scales what its sensors give and hands the numbers to a filter that
// works on plain memory.
// --size: that many times as many readings.
//
// MEASURE process sanitizer-reports kind=heap-use-after-free use=READ freed=BAD
// MEASURE process mean report
#include "measure.h"

namespace {

constexpr int64_t sensors = 4096;

// What the library for the filter looks like.
double smooth(const float *values, int64_t count) {
  double state = 0;
  for (int64_t i = 0; i < count; ++i)
    state = 0.9 * state + 0.1 * values[i]; // READ
  return state;
}

} // namespace

int main(int argc, char **argv) {
  measure::start(argc, argv);
  torch::manual_seed(1);
  const auto offset = torch::linspace(0, 1, sensors);
  const int64_t readings = 20 * measure::size();
  const auto recorded = torch::rand({readings, sensors});
  double sum = 0;
  for (int64_t step = 0; step < readings; ++step) {
    const auto reading = recorded[step] + offset;
    const float *scaled = (reading * 2 - 1).data_ptr<float>(); // BAD
    sum += smooth(scaled, sensors);
  }
  measure::value("mean", sum / static_cast<double>(readings));
  return measure::finish();
}
