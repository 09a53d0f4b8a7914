// A residual network learns to tell rings apart. Each block adds what it was
// given to what it has computed.
// --size: that many times as many networks.
#include "measure.h"

namespace {

constexpr int64_t steps = 40;

// Points on rings around the origin; even rings are one class, odd the other.
struct Rings {
  explicit Rings(torch::Device device) {
    const auto angle = torch::rand({256}) * 6.2832;
    const auto ring = torch::randint(0, 4, {256});
    const auto radius = ring + 0.5 + 0.1 * torch::randn({256});
    points =
        torch::stack(
            {radius * angle.cos(), radius * angle.sin(), radius * radius}, 1)
            .to(device);
    classes = ring.remainder(2).to(device);
  }

  torch::Tensor points, classes;
};

struct BlockImpl : torch::nn::Module {
  BlockImpl() : inner(register_module("inner", torch::nn::Linear(16, 16))) {}

  torch::Tensor forward(const torch::Tensor &x) {
    auto out = torch::relu(inner(x));
    out = out + x;
    return out;
  }

  torch::nn::Linear inner;
};
TORCH_MODULE(Block);

struct NetworkImpl : torch::nn::Module {
  NetworkImpl()
      : input(register_module("input", torch::nn::Linear(3, 16))),
        first(register_module("first", Block())),
        second(register_module("second", Block())),
        output(register_module("output", torch::nn::Linear(16, 2))) {}

  torch::Tensor forward(const torch::Tensor &x) {
    return output(second(first(torch::tanh(input(x)))));
  }

  torch::nn::Linear input;
  Block first, second;
  torch::nn::Linear output;
};
TORCH_MODULE(Network);

// How many steps of the training are made.
int64_t train(Network &network, const Rings &rings) {
  torch::optim::Adam adam(network->parameters(), 0.01);
  int64_t made = 0;
  try {
    while (made < steps) {
      adam.zero_grad();
      const auto loss =
          torch::cross_entropy_loss(network(rings.points), rings.classes);
      loss.backward();
      adam.step();
      ++made;
    }
  } catch (const c10::Error &) {
  }
  return made;
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  const Rings rings(device);
  const int64_t networks = 3 * measure::size();
  int64_t lost = 0;
  double accuracy = 0;
  for (int64_t i = 0; i < networks; ++i) {
    Network network;
    network->to(device);
    lost += steps - train(network, rings);
    torch::NoGradGuard no_grad;
    const auto predicted = network(rings.points).argmax(1);
    accuracy +=
        predicted.eq(rings.classes).to(torch::kFloat).mean().item<double>();
  }
  measure::value("steps_lost", static_cast<double>(lost));
  measure::value("accuracy", accuracy / static_cast<double>(networks));
  return measure::finish();
}
