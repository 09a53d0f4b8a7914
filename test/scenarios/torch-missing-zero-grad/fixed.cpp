// A linear model is fitted to data that it can fit exactly.
#include "measure.h"

#include <cmath>

namespace {

double gradient_norm(const torch::nn::Module &model) {
  double squares = 0;
  for (const auto &parameter : model.parameters()) {
    if (parameter.grad().defined())
      squares += parameter.grad().square().sum().item<double>();
  }
  return std::sqrt(squares);
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);

  const auto inputs = torch::randn({20, 32, 8}, device);
  const auto truth = torch::randn({1, 8}, device);
  torch::nn::Linear model(8, 1);
  model->to(device);
  torch::optim::SGD optimizer(model->parameters(), 0.05);

  double last_loss = 0;
  {
    measure::Loop loop("training");
    for (int64_t step = 0; step < 200; ++step) {
      const auto batch = inputs[step % inputs.size(0)];
      const auto target = batch.mm(truth.t());
      loop.value("carried_gradient_norm", gradient_norm(*model));

      const auto loss = torch::mse_loss(model->forward(batch), target);
      loss.backward();
      loop.value("gradient_norm", gradient_norm(*model));
      optimizer.step();
      optimizer.zero_grad();
      last_loss = loss.item<double>();
      loop.iteration();
    }
  }
  measure::value("last_loss", last_loss);
  measure::value("distance_to_truth", (model->weight - truth).norm().item<double>());
  return measure::finish();
}
