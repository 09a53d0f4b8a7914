// Deep Q-learning without the game: a network is trained on values that its
// target network gives, and the target is updated every few steps. Sensors
// are standardised beforehand, and in the end the bias of the last layer is
// looked at.
// --size: that many times as many steps.
#include "measure.h"

#include <vector>

namespace {

struct Net : torch::nn::Module {
  Net() {
    hidden = register_module("hidden", torch::nn::Linear(4, 32));
    value = register_module("value", torch::nn::Linear(32, 2));
  }
  torch::Tensor forward(const torch::Tensor &x) {
    return value(torch::relu(hidden(x)));
  }
  torch::nn::Linear hidden{nullptr}, value{nullptr};
};

void update(Net &target, const Net &local) {
  for (size_t i = 0; i < target.parameters().size(); ++i)
    target.parameters()[i].detach().copy_(local.parameters()[i]);
}

double distance(const Net &a, const Net &b) {
  torch::NoGradGuard guard;
  double sum = 0;
  const auto of_a = a.parameters(), of_b = b.parameters();
  for (size_t i = 0; i < of_a.size(); ++i)
    sum += (of_a[i] - of_b[i]).square().sum().item<double>();
  return std::sqrt(sum) + 1e-9;
}

double greatest(const Net &net) {
  const auto last = net.parameters().back();
  const torch::Tensor bias = last;            // READ
  return bias.abs().max().item<double>();
}

// Sensors with scales of their own; the mean and deviation of each is taken
// out.
std::vector<torch::Tensor> sensors(torch::Device device) {
  std::vector<torch::Tensor> readings;
  for (int64_t i = 0; i < 4; ++i)
    readings.push_back(torch::randn({256}, device) * (i + 1) + 3 * i);
  for (auto &reading : readings)
    reading = (reading - reading.mean()) / reading.std();
  return readings;
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  const auto readings = sensors(device);
  double worst = 0;
  for (const auto &reading : readings)
    worst = std::max(worst, reading.std().item<double>());
  measure::value("worst-deviation", worst);

  const auto states = torch::stack(readings, 1);
  Net local, target;
  local.to(device);
  target.to(device);
  torch::optim::Adam optimizer(local.parameters(), 1e-2);
  for (int64_t step = 0; step < 60 * measure::size(); ++step) {
    torch::Tensor wanted;
    {
      torch::NoGradGuard no_grad;
      wanted = target.forward(states) * 0.9 + states.sum(1, true);
    }
    const auto loss = torch::mse_loss(local.forward(states), wanted);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 10 == 9)
      update(target, local);
  }
  measure::value("greatest-bias", greatest(local));
  measure::value("distance-to-target", distance(local, target));
  return measure::finish();
}
