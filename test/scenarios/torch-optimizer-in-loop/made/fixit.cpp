// A network learns what policies of an insurance cost in the mean. Few have a
// claim, and a batch is small: most gradients say "less", a few say "much
// more". Adam weighs them by their averages. Made anew for each step it has
// none, and moves each weight by the learning rate, whatever the gradient: the
// many little ones win, and the forecast is far too low.
// --size: that many times as many steps.
#include "measure.h"

namespace {

struct Policies {
  torch::Tensor features, costs, expected;
};

Policies draw(int64_t count, torch::Device device) {
  const auto features = torch::rand({count, 2}, device);
  const auto chance = features.select(1, 0) * 0.1 + 0.05;
  const auto claim = features.select(1, 1) * 10 + 10;
  const auto happens = torch::rand({count}, device).lt(chance);
  return {features, claim * happens, claim * chance};
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  torch::nn::Sequential net(torch::nn::Linear(2, 32), torch::nn::ReLU(),
                            torch::nn::Linear(32, 1));
  net->to(device);
  const int64_t steps = 2000 * measure::size();
  {
    measure::Loop loop("training");
    torch::optim::Adam optimizer(net->parameters(), 2e-3);
    for (int64_t step = 0; step < steps; ++step) {
      const Policies batch = draw(4, device);
      const auto output = net->forward(batch.features).squeeze(1);
      const auto loss = torch::mse_loss(output, batch.costs);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      loop.iteration();
    }
  }

  torch::NoGradGuard no_grad;
  const Policies all = draw(10000, device);
  const auto forecast = net->forward(all.features).squeeze(1);
  const auto error = (forecast - all.expected).square().mean().sqrt();
  measure::value("forecast", forecast.mean().item<double>());
  measure::value("expected", all.expected.mean().item<double>());
  measure::value("error", error.item<double>());
  return measure::finish();
}
