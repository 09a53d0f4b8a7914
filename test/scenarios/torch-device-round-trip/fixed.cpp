// A renderer goes through the rays of each image in pieces, which is as much as its network
// takes. The rays are on the accelerator, which is one with the memory of the host
// (support/pretend.h): what is moved from it and to it is counted.
// --size: that many times as many rays.
#include "measure.h"
#include "pretend.h"

int main(int argc, char **argv) {
  measure::start(argc, argv);
  const torch::Device device = pretend::accelerator();
  const int64_t pieces = 8, piece = 64 * measure::size();
  torch::manual_seed(1);
  double brightness = 0;
  {
    measure::Loop loop("images");
    for (int64_t i = 0; i < 60; ++i) {
      const auto rays = (torch::rand({pieces * piece, 6}) * 2).to(device);
      for (int64_t at = 0; at < pieces; ++at) {
        const auto part = rays.slice(0, at * piece, (at + 1) * piece);
        brightness += part.const_data_ptr<float>()[i];
      }
      loop.iteration();
    }
  }
  measure::value("brightness", brightness);
  return measure::finish();
}
