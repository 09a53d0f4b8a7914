// A controller scales what its sensors give and hands the numbers to a filter that
// works on plain memory.
// --size: that many times as many readings.
#include "measure.h"

namespace {

constexpr int64_t sensors = 4096;

// What the library for the filter looks like.
double smooth(const float *values, int64_t count) {
  double state = values[0]; // READ
  for (int64_t i = 1; i < count; ++i)
    state = 0.9 * state + 0.1 * values[i];
  return state;
}

} // namespace

int main(int argc, char **argv) {
  measure::start(argc, argv);
  torch::manual_seed(1);
  const auto offset = torch::linspace(0, 1, sensors);
  double sum = 0;
  const int64_t readings = 20 * measure::size();
  for (int64_t step = 0; step < readings; ++step) {
    const auto reading = torch::rand({sensors}) + offset;
    auto scaled_owner = reading * 2 - 1;
    const float *scaled = scaled_owner.data_ptr<float>();
    sum += smooth(scaled, sensors);
  }
  measure::value("mean", sum / static_cast<double>(readings));
  return measure::finish();
}
