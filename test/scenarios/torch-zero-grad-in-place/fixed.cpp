// The same, and the gradients are let go.
#include "measure.h"

namespace {

constexpr int64_t layers = 8;

torch::nn::Sequential make_network(int64_t width) {
  torch::nn::Sequential net;
  for (int64_t layer = 0; layer < layers; ++layer) {
    net->push_back(torch::nn::Linear(width, width));
    net->push_back(torch::nn::Tanh());
  }
  return net;
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  const int64_t width = 256 * measure::size();
  auto net = make_network(width);
  net->to(device);
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  const auto inputs = torch::randn({128 * measure::size(), width}, device);
  const auto targets = torch::sin(inputs);
  double last = 0;
  {
    measure::Loop loop("training");
    for (int step = 0; step < 30; ++step) {
      optimizer.zero_grad();
      const auto loss = torch::mse_loss(net->forward(inputs), targets);
      loss.backward();
      optimizer.step();
      last = loss.item<double>();
      loop.iteration();
    }
  }
  measure::value("last-loss", last);
  return measure::finish();
}
