// Masses on springs, of which each has its own stiffness, go through time in
// small steps. The changes of velocity and place are tensors of their own,
// which are made only to be added.
// --size: that many times as many masses.
//
// MEASURE simulation allocated-bytes factor=1.5 grows=linear
// MEASURE simulation allocations more=2 grows=constant
// MEASURE simulation peak-bytes factor=1.3 grows=linear
// MEASURE simulation milliseconds report
// MEASURE process energy same
#include "measure.h"

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  const torch::NoGradGuard no_grad;
  const int64_t count = 262144 * measure::size();
  const double dt = 0.01;
  const auto stiffness = torch::rand({count}, device) + 0.5;
  auto place = torch::randn({count}, device);
  auto velocity = torch::zeros({count}, device);
  {
    measure::Loop loop("simulation");
    for (int64_t step = 0; step < 60; ++step) {
      const auto pull = place * dt;
      velocity = velocity - stiffness * pull; // BAD
      place = place + dt * velocity;          // BAD
      loop.iteration();
    }
  }
  measure::value("energy", (velocity.square() + stiffness * place.square())
                               .mean()
                               .item<double>());
  return measure::finish();
}
