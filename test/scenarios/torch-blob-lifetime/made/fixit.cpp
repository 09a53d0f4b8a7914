// A monitor looks for the highest point of each heartbeat that it has recorded.
// --size: that many times as many heartbeats.
#include "measure.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

constexpr int64_t samples_per_beat = 4096;

// What the sensor gives: a wave, a little higher with each beat.
std::vector<float> sample(int64_t beat) {
  std::vector<float> samples;
  for (int64_t i = 0; i < samples_per_beat; ++i) {
    const double time = static_cast<double>(i) / samples_per_beat - 0.5;
    samples.push_back(static_cast<float>((1 + 0.01 * beat) * std::exp(-200 * time * time)));
  }
  return samples;
}

torch::Tensor readBeat(int64_t beat) {
  std::vector<float> samples = sample(beat);
  return torch::from_blob(samples.data(), {samples_per_beat}).clone();
} // FREED

float peak(const torch::Tensor &beat) {
  const auto samples = beat.accessor<float, 1>();
  float highest = 0;
  for (int64_t i = 0; i < samples.size(0); ++i)
    highest = std::max(highest, samples[i]); // READ
  return highest;
}

} // namespace

int main(int argc, char **argv) {
  measure::start(argc, argv);
  std::vector<torch::Tensor> beats;
  for (int64_t beat = 0; beat < 20 * measure::size(); ++beat)
    beats.push_back(readBeat(beat));
  double sum = 0;
  for (const torch::Tensor &beat : beats)
    sum += peak(beat);
  measure::value("mean_peak", sum / static_cast<double>(beats.size()));
  return measure::finish();
}
