// A network learns which of four clouds a point is from. Its second layer and
// its dropout are members that it made and forgot to register.
// --size: that many times as many networks.
//
// MEASURE process parameters differs=2
// MEASURE process parameters wrong=2 fixed=4
// MEASURE process answers_changed more=10
// MEASURE process accuracy report
#include "measure.h"

namespace {

struct CloudsImpl : torch::nn::Module {
  CloudsImpl() : first(2, 32) {
    register_module("first", first);
    second = torch::nn::Linear(32, 4); // BAD
  }

  torch::Tensor forward(const torch::Tensor &x) {
    return second(dropout(torch::relu(first(x))));
  }

  torch::nn::Linear first, second{nullptr};
  torch::nn::Dropout dropout{0.5}; // BAD
};
TORCH_MODULE(Clouds);

void train(torch::optim::Optimizer &optimizer, Clouds &net,
           const torch::Tensor &points, const torch::Tensor &labels) {
  for (int64_t step = 0; step < 100; ++step) {
    optimizer.zero_grad();
    torch::cross_entropy_loss(net->forward(points), labels).backward();
    optimizer.step();
  }
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  const auto labels = torch::arange(400).remainder(4).to(device);
  const auto centers = torch::tensor({{0., 0.}, {3., 0.}, {0., 3.}, {3., 3.}})
                           .to(torch::kFloat)
                           .to(device);
  const auto points = centers.index({labels}) + torch::randn({400, 2}, device);
  int64_t changed = 0;
  double accuracy = 0;
  for (int64_t i = 0; i < measure::size(); ++i) {
    Clouds net;
    net->to(device);
    torch::optim::SGD optimizer(net->parameters(), 0.1);
    if (i == 0)
      measure::parameters(optimizer);
    try {
      train(optimizer, net, points, labels);
      net->eval();
      torch::NoGradGuard no_grad;
      // The same network is asked twice.
      const auto once = net->forward(points), again = net->forward(points);
      changed += once.ne(again).any(1).sum().item<int64_t>();
      accuracy +=
          once.argmax(1).eq(labels).to(torch::kFloat).mean().item<double>();
    } catch (const c10::Error &) {
      changed += points.size(0); // On CUDA a layer has been left behind.
    }
  }
  measure::value("answers_changed", static_cast<double>(changed));
  measure::value("accuracy", accuracy / static_cast<double>(measure::size()));
  return measure::finish();
}
