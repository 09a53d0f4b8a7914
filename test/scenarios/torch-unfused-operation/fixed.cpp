// The same with one operation for each sum.
// --size: that many times as many masses.
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
      velocity = torch::addcmul(velocity, stiffness, pull, -1);
      place = torch::add(place, velocity, dt);
      loop.iteration();
    }
  }
  measure::value("energy", (velocity.square() + stiffness * place.square())
                               .mean()
                               .item<double>());
  return measure::finish();
}
