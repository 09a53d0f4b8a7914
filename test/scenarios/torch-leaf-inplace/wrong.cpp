// Networks of two layers learn to tell rings apart, with gradient descent that
// is written by hand. Each of an ensemble starts from other weights.
// --size: that many times as many networks.
//
// MEASURE process exceptions at=BAD message="a leaf Variable"
// MEASURE process exceptions more=3 grows=linear
// MEASURE process steps_lost factor=10 grows=linear
// MEASURE process accuracy report
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

class Network {
public:
  explicit Network(torch::Device device)
      : options(torch::TensorOptions().device(device)),
        weights({initial({3, 32}), initial({32}), initial({32, 2}),
                 initial({2})}) {}

  torch::Tensor forward(const torch::Tensor &x) const {
    const auto hidden = torch::tanh(x.matmul(weights[0]) + weights[1]);
    return hidden.matmul(weights[2]) + weights[3];
  }

  void step(const torch::Tensor &loss, double rate) {
    loss.backward();
    for (auto &weight : weights) {
      weight -= rate * weight.grad(); // BAD
      weight.mutable_grad().reset();
    }
  }

private:
  torch::Tensor initial(at::IntArrayRef shape) const {
    return (0.5 * torch::randn(shape, options)).requires_grad_();
  }

  torch::TensorOptions options;
  std::vector<torch::Tensor> weights;
};

// How many steps of the training are made.
int64_t train(Network &network, const Rings &rings) {
  int64_t made = 0;
  try {
    while (made < steps) {
      const auto loss = torch::cross_entropy_loss(network.forward(rings.points),
                                                  rings.classes);
      network.step(loss, 0.1);
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
    Network network(device);
    lost += steps - train(network, rings);
    torch::NoGradGuard no_grad;
    const auto predicted = network.forward(rings.points).argmax(1);
    accuracy +=
        predicted.eq(rings.classes).to(torch::kFloat).mean().item<double>();
  }
  measure::value("steps_lost", static_cast<double>(lost));
  measure::value("accuracy", accuracy / static_cast<double>(networks));
  return measure::finish();
}
