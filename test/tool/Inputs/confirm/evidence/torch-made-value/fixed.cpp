// A result that is dropped, and a layer that nobody knows of.
#include "measure.h"

namespace {

struct NetImpl : torch::nn::Module {
  NetImpl() {
    register_module("first", first);
    register_module("second", second);
  }

  torch::nn::Linear first{4, 4}, second{4, 4};
};
TORCH_MODULE(Net);

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  auto numbers = torch::full({8 * measure::size()}, 3.0, device);
  numbers -= 1;
  Net net;
  measure::value("mean", numbers.mean().item<double>());
  measure::parameters(torch::optim::SGD(net->parameters(), 0.1));
  return measure::finish();
}
