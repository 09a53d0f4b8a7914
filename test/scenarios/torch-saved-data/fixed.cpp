// The same activation, whose output is saved as a variable.
#include "measure.h"

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Bump : torch::autograd::Function<Bump> {
  static torch::Tensor forward(AutogradContext *ctx, const torch::Tensor &x) {
    auto y = torch::exp(-x * x);
    ctx->saved_data["x"] = x;
    ctx->save_for_backward({y});
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    const auto x = ctx->saved_data["x"].toTensor();
    return {grads[0] * -2 * x * ctx->get_saved_variables()[0]};
  }
};

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  torch::nn::Linear hidden(2, 32), out(32, 1);
  hidden->to(device);
  out->to(device);
  auto parameters = hidden->parameters();
  for (const auto &parameter : out->parameters())
    parameters.push_back(parameter);
  torch::optim::SGD optimizer(parameters, 0.1);
  const auto points = torch::randn({256, 2}, device);
  const auto inside = (points.norm(2, 1, true) < 1).to(torch::kFloat);
  torch::Tensor loss;
  {
    measure::Loop loop("training");
    for (int64_t step = 0; step < 60 * measure::size(); ++step) {
      loss = torch::binary_cross_entropy_with_logits(
          out(Bump::apply(hidden(points))), inside);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      loop.iteration();
    }
  }
  measure::value("last-loss", loss.item<double>());
  return measure::finish();
}
