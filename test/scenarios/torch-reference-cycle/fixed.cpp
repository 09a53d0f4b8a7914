// The hook has a tensor of the same memory without the hook, and the function a
// pointer that does not own.
#include "measure.h"
#include <functional>

namespace {

struct Fit {
  explicit Fit(torch::Device device) { net->to(device); }

  torch::nn::Linear net{32, 32};
  std::function<void(double)> on_done;
  double last = 0;
};

double answer(const torch::Tensor &x, const torch::Tensor &y) {
  auto fit = std::make_shared<Fit>(x.device());
  auto shift = torch::zeros({32, 32}, x.options().requires_grad(true));
  shift.register_hook([weight = shift.detach()](const torch::Tensor &grad) {
    return grad + 0.01 * weight;
  });
  const std::weak_ptr<Fit> observed = fit;
  fit->on_done = [observed](double loss) { observed.lock()->last = loss; };
  torch::optim::SGD optimizer(fit->net->parameters(), 0.1);
  optimizer.add_parameters({shift});
  torch::Tensor loss;
  for (int step = 0; step < 5; ++step) {
    loss = torch::mse_loss(fit->net(x) + x.mm(shift), y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  fit->on_done(loss.item<double>());
  return fit->last;
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  const auto x = torch::randn({64, 32}, device);
  double fitted = 0;
  {
    measure::Loop loop("requests");
    for (int64_t request = 0; request < 60 * measure::size(); ++request) {
      fitted = answer(x, x.flip(1));
      loop.iteration();
    }
  }
  measure::value("fitted", fitted);
  return measure::finish();
}
