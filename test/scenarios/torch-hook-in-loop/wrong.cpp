// FIXME(new-check): a real program with the mistake; see docs/scenarios.md.
// --size: that many times as many steps.
//
// MEASURE loop allocations factor=1.5 grows=constant
#include "measure.h"

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  {
    measure::Loop loop("loop");
    for (int64_t step = 0; step < 60 * measure::size(); ++step) {
      auto ones = torch::ones({8, 8}, device); // BAD
      ones.sum();
      loop.iteration();
    }
  }
  return measure::finish();
}
