// Sensors drift: a network keeps a running mean of what it has seen, and takes
// it away. After the training its last layer is pruned. It is saved, loaded in
// another place, and has to say there what it said here.
// --size: that many times as many networks.
#include "measure.h"

#include <sstream>

namespace {

struct SensorsImpl : torch::nn::Module {
  SensorsImpl() {
    mean = register_buffer("mean", torch::zeros({8}));
    register_module("fc", fc);
    register_module("out", out);
  }

  torch::Tensor forward(const torch::Tensor &x) {
    if (is_training()) {
      torch::NoGradGuard no_grad;
      mean.mul_(0.9).add_(x.mean(0), 0.1);
    }
    return out->forward(torch::relu(fc->forward(x - mean)));
  }

  // The smaller half of the weights is taken out.
  void prune() {
    torch::NoGradGuard no_grad;
    const auto weight = out->weight;
    out->weight.mul_(weight.abs() > weight.abs().median());
  }

  torch::Tensor mean;
  torch::nn::Linear fc{8, 16}, out{16, 3};
};
TORCH_MODULE(Sensors);

void train(Sensors &net, torch::Device device) {
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int64_t step = 0; step < 30; ++step) {
    const auto label = torch::randint(
        0, 3, {32}, torch::dtype(torch::kLong).device(device));
    const auto x = 5 + torch::randn({32, 8}, device) + label.unsqueeze(1);
    optimizer.zero_grad();
    torch::cross_entropy_loss(net->forward(x), label).backward();
    optimizer.step();
  }
  net->prune();
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  int64_t wrong = 0, lost = 0;
  for (int64_t i = 0; i < 2 * measure::size(); ++i) {
    Sensors net;
    net->to(device);
    train(net, device);
    net->eval();

    std::stringstream file;
    torch::save(net, file);
    Sensors loaded;
    torch::load(loaded, file);
    loaded->to(device);
    loaded->eval();

    torch::NoGradGuard no_grad;
    const auto x = 5 + torch::randn({100, 8}, device);
    const auto here = net->forward(x), there = loaded->forward(x);
    wrong += (here - there).abs().amax(1).gt(1e-4).sum().item<int64_t>();
    lost += !net->mean.equal(loaded->mean);
  }
  measure::value("wrong_answers", static_cast<double>(wrong));
  measure::value("mean_lost", static_cast<double>(lost));
  return measure::finish();
}
