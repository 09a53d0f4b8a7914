// A service fits a small network for each request. So that no weight grows
// without bound, a hook adds a part of the weight to its gradient; a report
// goes through a function that the fit has. Both have captured what has them,
// and nothing of a request is ever freed.
// --size: that many times as many requests.
//
// MEASURE requests bytes-per-iteration factor=10 grows=constant
// MEASURE requests bytes-kept factor=10 grows=linear
// MEASURE process fitted same
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
  shift.register_hook( // BAD
      [shift](const torch::Tensor &grad) { return grad + 0.01 * shift; });
  fit->on_done = [fit](double loss) { fit->last = loss; }; // BAD
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
