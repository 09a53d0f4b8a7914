// A network learns a line, and is evaluated after each epoch with grad mode
// switched off. The evaluation gives up early when the error is small enough,
// and nothing switches grad mode on again on that way: from the next epoch on
// no pass is recorded, and every backward() throws.
// --size: that many times as many epochs.
//
// MEASURE process exceptions at=THROWS type=c10::Error message="does not require grad"
// MEASURE process recorded-passes differs=100
// MEASURE process distance factor=10
#include "measure.h"
#include <cmath>

namespace {

constexpr int64_t batches = 4, batch_size = 16, features = 8;

struct Examples {
  torch::Tensor inputs, outputs;
};

Examples draw(int64_t count, torch::Device device) {
  const auto inputs = torch::randn({count, features}, device);
  return {inputs, inputs.sum(1, /*keepdim=*/true)};
}

torch::Tensor error(torch::nn::Linear &net, const Examples &examples) {
  return torch::mse_loss(net->forward(examples.inputs), examples.outputs);
}

double evaluate(torch::nn::Linear &net, const std::vector<Examples> &sets) {
  torch::GradMode::set_enabled(false); // BAD
  double sum = 0;
  for (const Examples &examples : sets) {
    const double one = error(net, examples).item<double>();
    if (one < 1)
      return one;
    sum += one;
  }
  torch::GradMode::set_enabled(true);
  return sum / double(sets.size());
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  torch::nn::Linear net(features, 1);
  net->to(device);
  torch::optim::SGD optimizer(net->parameters(), 0.02);
  const Examples known = draw(batches * batch_size, device);
  const std::vector<Examples> unknown = {draw(100, device), draw(100, device)};
  double recorded = 0;
  for (int64_t epoch = 0; epoch < 60 * measure::size(); ++epoch) {
    try {
      for (int64_t batch = 0; batch < batches; ++batch) {
        const int64_t from = batch * batch_size;
        const Examples part = {known.inputs.narrow(0, from, batch_size),
                               known.outputs.narrow(0, from, batch_size)};
        optimizer.zero_grad();
        const auto loss = error(net, part);
        recorded += loss.requires_grad();
        loss.backward(); // THROWS
        optimizer.step();
      }
      evaluate(net, unknown);
    } catch (const c10::Error &) {
      // The next epoch may do better.
    }
  }
  measure::value("recorded-passes", recorded);
  measure::value("distance",
                 (net->weight.detach() - 1).norm().item<double>());
  return measure::finish();
}
