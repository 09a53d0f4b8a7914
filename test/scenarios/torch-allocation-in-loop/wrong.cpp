// FIXME(new-check): a program with the mistake; run both programs of this folder and compare what
// they measure.
#include "measure.h"

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  {
    measure::Loop loop("loop");
    for (int step = 0; step < 100; ++step) {
      torch::ones({8, 8}, device).sum(); // BAD
      loop.iteration();
    }
  }
  return measure::finish();
}
