// A thermostat learns which power its heater needs from a log of temperatures, which a
// sensor has written in hundredths of a degree.
// --size: that many times as many readings.
#include "measure.h"

#include <cmath>
#include <vector>

namespace {

struct Log {
  std::vector<int32_t> centidegrees;
  std::vector<float> watts;
};

// A day of readings, over and over: the colder, the more power.
Log record(int64_t readings) {
  Log log;
  for (int64_t i = 0; i < readings; ++i) {
    const double celsius = 12 + 8 * std::sin(0.01 * i);
    log.centidegrees.push_back(static_cast<int32_t>(std::lround(100 * celsius)));
    log.watts.push_back(static_cast<float>(400 - 15 * celsius));
  }
  return log;
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  Log log = record(1000 * measure::size());
  const auto n = static_cast<int64_t>(log.watts.size());

  auto readings = torch::from_blob(log.centidegrees.data(), {n, 1}, torch::kInt).to(torch::kFloat);
  const auto celsius = (readings / 100).to(device);
  const auto watts = torch::from_blob(log.watts.data(), {n, 1}).clone().to(device);

  const auto scaled = (celsius - 12) / 8;
  torch::nn::Linear heater(1, 1);
  heater->to(device);
  torch::optim::SGD optimizer(heater->parameters(), 0.2);
  for (int step = 0; step < 200; ++step) {
    optimizer.zero_grad();
    const auto loss = torch::mse_loss(heater->forward(scaled), watts);
    loss.backward();
    optimizer.step();
  }
  {
    torch::NoGradGuard no_grad;
    measure::value("error", (heater->forward(scaled) - watts).abs().mean().item<double>());
  }
  measure::value("mean_celsius", celsius.mean().item<double>());
  return measure::finish();
}
