// A result that is dropped, and a layer that nobody knows of.
//
// MEASURE process mean differs=0.5 wrong=3 fixed=2
// MEASURE process mean differs
// MEASURE process parameters differs=2 wrong=2 fixed=4
// MEASURE process parameter-elements wrong=20 fixed=40
#include "measure.h"

namespace {

struct NetImpl : torch::nn::Module {
  NetImpl() { register_module("first", first); } // BAD

  torch::nn::Linear first{4, 4}, second{4, 4};
};
TORCH_MODULE(Net);

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  auto numbers = torch::full({8 * measure::size()}, 3.0, device);
  numbers - 1; // BAD
  Net net;
  measure::value("mean", numbers.mean().item<double>());
  measure::parameters(torch::optim::SGD(net->parameters(), 0.1));
  return measure::finish();
}
