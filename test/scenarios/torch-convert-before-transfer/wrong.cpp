// A camera gives images of bytes, which a network wants as floats on the accelerator. That is
// one with the memory of the host (support/pretend.h): what is moved to it is counted.
// --size: that many times as many rows.
//
// MEASURE camera copied-bytes factor=2 grows=linear
// MEASURE camera copies same
// MEASURE process brightness same
#include "measure.h"
#include "pretend.h"

#include <cstdlib>
#include <vector>

int main(int argc, char **argv) {
  measure::start(argc, argv);
  const torch::Device device = pretend::accelerator();
  const int64_t rows = 48 * measure::size(), columns = 64;
  std::vector<uint8_t> frame(rows * columns * 3);
  double brightness = 0;
  {
    measure::Loop loop("camera");
    for (int64_t i = 0; i < 60; ++i) {
      for (size_t at = 0; at < frame.size(); ++at)
        frame[at] = static_cast<uint8_t>(at * 7 + i);
      const auto image = torch::from_blob(frame.data(), {rows, columns, 3}, torch::kUInt8);
      const auto input = image.to(torch::kFloat32).to(device); // BAD
      brightness += input.const_data_ptr<float>()[i];
      loop.iteration();
    }
  }
  measure::value("brightness", brightness);
  return measure::finish();
}
