// A multilayer perceptron learns to tell two spirals apart.
// --size: that many times as many steps.
//
// MEASURE process uncleared-steps factor=100 grows=linear
// MEASURE process accuracy report
// MEASURE process last_loss report
#include "measure.h"

namespace {

constexpr int64_t batch_size = 64;

struct Batch {
  torch::Tensor points, labels;
};

// Points near one of two spirals that wind around each other.
Batch draw(torch::Device device) {
  const auto labels = torch::randint(
      2, {batch_size}, torch::dtype(torch::kInt64).device(device));
  const auto turn = torch::rand({batch_size}, device).sqrt() * 6;
  const auto angle = turn + labels * M_PI;
  const auto points = torch::stack({angle.cos(), angle.sin()}, 1);
  return {points * turn.view({-1, 1}) / 6, labels};
}

double accuracy(torch::nn::Sequential &net, torch::Device device) {
  torch::NoGradGuard no_grad;
  double right = 0;
  for (int i = 0; i < 20; ++i) {
    const Batch batch = draw(device);
    const auto guess = net->forward(batch.points).argmax(1);
    right += guess.eq(batch.labels).to(torch::kFloat32).mean().item<double>();
  }
  return right / 20;
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  const int64_t steps = 400 * measure::size();
  torch::manual_seed(1);
  torch::nn::Sequential net(torch::nn::Linear(2, 64), torch::nn::Tanh(),
                            torch::nn::Linear(64, 64), torch::nn::Tanh(),
                            torch::nn::Linear(64, 2));
  net->to(device);
  torch::optim::SGD optimizer(net->parameters(), 0.3);

  torch::Tensor loss;
  {
    measure::Loop loop("training");
    for (int64_t step = 0; step < steps; ++step) {
      const Batch batch = draw(device);
      const auto output = net->forward(batch.points);
      loss = torch::cross_entropy_loss(output, batch.labels);
      loss.backward();
      optimizer.step(); // BAD
      loop.iteration();
    }
  }
  measure::value("last_loss", loss.item<double>());
  measure::value("accuracy", accuracy(net, device));
  return measure::finish();
}
