// An actor learns to hit a target, taught by a critic that learns what it is
// worth to be how near. Then a network learns two tasks in turn by SGD.
// --size: that many times as many steps.
//
// MEASURE process exceptions at=THROWS message="modified by an inplace"
// MEASURE process exceptions more=150 grows=linear
// MEASURE process gradient differs=0.05
// MEASURE process distance report
#include "measure.h"

namespace {

torch::nn::Sequential network(int64_t inputs, torch::Device device) {
  torch::nn::Sequential result(torch::nn::Linear(inputs, 32), torch::nn::Tanh(),
                               torch::nn::Linear(32, 1));
  result->to(device);
  return result;
}

// How far from the target the actor is in the end.
double teach(torch::Device device) {
  auto actor = network(1, device), critic = network(2, device);
  torch::optim::Adam actor_adam(actor->parameters(), 0.01);
  torch::optim::Adam critic_adam(critic->parameters(), 0.01);
  const auto states = torch::rand({64, 1}, device);
  for (int64_t step = 0; step < 150 * measure::size(); ++step) {
    const auto tried = torch::rand({64, 1}, device);
    const auto worth = -(tried - states).square();
    const auto predicted = critic->forward(torch::cat({states, tried}, 1));
    const auto critic_loss = torch::mse_loss(predicted, worth);
    const auto chosen = actor->forward(states).sigmoid();
    const auto actor_loss =
        -critic->forward(torch::cat({states, chosen}, 1)).mean();
    try {
      critic_adam.zero_grad();
      critic_loss.backward();
      critic_adam.step();
      actor_adam.zero_grad();
      actor_loss.backward(); // BAD,THROWS
      actor_adam.step();
    } catch (const c10::Error &) {
    }
  }
  torch::NoGradGuard no_grad;
  const auto chosen = actor->forward(states).sigmoid();
  return (chosen - states).abs().mean().item<double>();
}

// SGD writes past the versions of weights: nothing throws.
double gradient(torch::Device device) {
  auto net = network(1, device);
  torch::optim::SGD sgd(net->parameters(), 0.3);
  const auto x = torch::rand({64, 1}, device);
  const auto first_loss = torch::mse_loss(net->forward(x), 3 * x);
  const auto second_loss = torch::mse_loss(net->forward(-x), x);
  sgd.zero_grad();
  first_loss.backward();
  sgd.step();
  sgd.zero_grad();
  second_loss.backward(); // BAD
  return net->parameters().front().grad().norm().item<double>();
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  measure::value("gradient", gradient(device));
  measure::value("distance", teach(device));
  return measure::finish();
}
