// A deep network is trained. Each backward() frees what the graph has saved.
// --size: that many times as large a batch.
#include "measure.h"

namespace {

constexpr int64_t layers = 12, width = 64;

torch::nn::Sequential make_network() {
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
  auto net = make_network();
  net->to(device);
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  const int64_t batch = 2048 * measure::size();
  const auto inputs = torch::randn({batch, width}, device);
  const auto targets = torch::sin(inputs);
  torch::Tensor loss;
  {
    measure::Loop loop("training");
    for (int step = 0; step < 20; ++step) {
      loss = torch::mse_loss(net->forward(inputs), targets);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      loop.iteration();
    }
  }
  measure::value("last-loss", loss.item<double>());
  return measure::finish();
}
