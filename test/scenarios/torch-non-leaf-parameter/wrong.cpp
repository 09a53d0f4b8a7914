// Ratings of films are explained by a few numbers for each viewer and each
// film, which are learned. Then a network with a gain of its own learns to tell
// large films from small ones, with an optimizer that is given the gain later.
// --size: that many times as many factorizations and networks.
//
// MEASURE process exceptions at=THROWS message="can't optimize a non-leaf Tensor"
// MEASURE process exceptions more=2 grows=linear
// MEASURE process steps_lost factor=10 grows=linear
// MEASURE process gains_unchanged more=1 grows=linear
// MEASURE process error report
#include "measure.h"

namespace {

constexpr int64_t viewers = 40, films = 30, steps = 60;

torch::Tensor ratings(torch::Device device) {
  const auto taste = torch::randn({viewers, 3}),
             kind = torch::randn({films, 3});
  return taste.matmul(kind.t()).to(device);
}

struct Outcome {
  int64_t made = 0;
  double error = 1;
};

Outcome factorize(const torch::Tensor &target, int64_t rank) {
  Outcome outcome;
  try {
    auto taste = torch::randn({viewers, rank}, torch::requires_grad()) * 0.3;
    auto kind = torch::randn({films, rank}).requires_grad_() * 0.3;
    torch::optim::Adam optimizer({taste, kind}, 0.05); // BAD,THROWS
    for (; outcome.made < steps; ++outcome.made) {
      optimizer.zero_grad();
      const auto loss =
          torch::mse_loss(taste.matmul(kind.t()).to(target.device()), target);
      loss.backward();
      optimizer.step();
      outcome.error = loss.item<double>();
    }
  } catch (const c10::Error &) {
  }
  return outcome;
}

struct GainedImpl : torch::nn::Module {
  GainedImpl() { register_module("fc", fc); }

  torch::Tensor forward(const torch::Tensor &x, const torch::Tensor &gain) {
    return fc->forward(x * gain);
  }

  torch::nn::Linear fc{films, 1};
};
TORCH_MODULE(Gained);

// Whether the training has changed the gain.
bool learns_gain(const torch::Tensor &rows) {
  Gained net;
  net->to(rows.device());
  auto gain =
      torch::ones({films}, rows.options().requires_grad(true)) * 0.5;
  const auto before = gain.detach().clone();
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  optimizer.add_parameters({gain}); // BAD
  for (int64_t i = 0; i < 10; ++i) {
    optimizer.zero_grad();
    const auto loss = torch::mse_loss(net->forward(rows, gain),
                                      rows.sum(1, true), at::Reduction::Mean);
    // Needed as long as the graph of 'gain' is made once.
    loss.backward({}, /*retain_graph=*/true); // NOLINT(torch-retain-graph-in-loop)
    optimizer.step();
  }
  return !gain.detach().equal(before);
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  const auto target = ratings(device);
  int64_t lost = 0, unchanged = 0;
  double error = 0;
  for (int64_t i = 0; i < 2 * measure::size(); ++i) {
    const Outcome outcome = factorize(target, 3 + i % 2);
    lost += steps - outcome.made;
    error += outcome.error;
    unchanged += !learns_gain(target);
  }
  measure::value("steps_lost", static_cast<double>(lost));
  measure::value("gains_unchanged", static_cast<double>(unchanged));
  measure::value("error", error / static_cast<double>(2 * measure::size()));
  return measure::finish();
}
