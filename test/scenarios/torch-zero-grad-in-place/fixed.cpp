// FIXME(new-check): the same program without the mistake; see docs/scenarios.md.
// --size: that many times as many steps.
#include "measure.h"

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  {
    measure::Loop loop("loop");
    auto ones = torch::ones({8, 8}, device);
    for (int64_t step = 0; step < 60 * measure::size(); ++step) {
      ones.sum();
      loop.iteration();
    }
  }
  return measure::finish();
}
