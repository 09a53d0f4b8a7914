// A renderer hands frames of floats to an encoder, which takes memory: each frame is copied
// into a buffer. How bright the frames are there.
// --size: that many times as many frames.
//
// MEASURE process missing_pixels more=1000
// MEASURE process brightness differs=0.1
#include "measure.h"

#include <cmath>
#include <cstring>
#include <vector>

namespace {

// What the encoder does with a frame.
double brightness(const std::vector<float> &pixels) {
  double sum = 0;
  for (const float pixel : pixels)
    sum += pixel;
  return sum / static_cast<double>(pixels.size());
}

} // namespace

int main(int argc, char **argv) {
  measure::start(argc, argv);
  torch::manual_seed(1);
  const int64_t frames = 20 * measure::size();
  double sum = 0, missing = 0;
  for (int64_t i = 0; i < frames; ++i) {
    const auto frame = (torch::rand({48, 64}) * 0.5 + 0.5).contiguous();
    std::vector<float> buffer(frame.numel());
    std::memcpy(buffer.data(), frame.const_data_ptr<float>(),
                frame.numel() * sizeof(torch::kFloat32)); // BAD
    sum += brightness(buffer);
    for (const float pixel : buffer)
      missing += pixel == 0;
  }
  measure::value("brightness", sum / static_cast<double>(frames));
  measure::value("missing_pixels", missing / static_cast<double>(frames));
  return measure::finish();
}
