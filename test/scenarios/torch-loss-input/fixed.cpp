// The same without softmax(): the network returns scores, of which the largest is
// that of the likeliest kind as well.
#include "measure.h"

namespace {

constexpr int64_t Kinds = 10, Length = 64;

struct ClassifierImpl : torch::nn::Module {
  ClassifierImpl()
      : hidden(register_module("hidden", torch::nn::Linear(Length, 64))),
        out(register_module("out", torch::nn::Linear(64, Kinds))) {}

  torch::Tensor forward(const torch::Tensor &signals) {
    return out(torch::relu(hidden(signals)));
  }

  torch::nn::Linear hidden, out;
};
TORCH_MODULE(Classifier);

/// A wave of the frequency that the kind says, at any phase, and noise.
torch::Tensor signalsOf(const torch::Tensor &kinds) {
  const auto time = torch::arange(Length, kinds.options().dtype(torch::kFloat));
  const auto phase = 3 * torch::rand({kinds.size(0), 1}, time.options());
  return torch::sin((kinds + 1).unsqueeze(1) * time * 0.15 + phase) +
         torch::randn({kinds.size(0), Length}, time.options());
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(7);
  Classifier net;
  net->to(device);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  const auto options = torch::dtype(torch::kLong).device(device);
  for (int64_t step = 0; step < 100 * measure::size(); ++step) {
    const auto kinds = torch::randint(Kinds, {64}, options);
    const auto guesses = net(signalsOf(kinds));
    const auto loss = torch::cross_entropy_loss(guesses, kinds);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  torch::NoGradGuard no_grad;
  const auto kinds = torch::randint(Kinds, {1000}, options);
  const auto guesses = net(signalsOf(kinds));
  measure::value("loss",
                 torch::cross_entropy_loss(guesses, kinds)
                     .item<double>());
  measure::value("right-of-1000",
                 guesses.argmax(1).eq(kinds).sum().item<double>());
  return measure::finish();
}
