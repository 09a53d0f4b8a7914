// The same training: the losses are summed up on the device, and the sum is read once in an
// epoch.
// --size: that many times as many epochs.
#include "measure.h"

namespace {

struct NetImpl : torch::nn::Module {
  NetImpl()
      : hidden(register_module("hidden", torch::nn::Linear(64, 128))),
        output(register_module("output", torch::nn::Linear(128, 10))) {}

  torch::Tensor forward(const torch::Tensor &x) {
    return output(torch::relu(hidden(x)));
  }

  torch::nn::Linear hidden, output;
};
TORCH_MODULE(Net);

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  const int64_t batches = 20, batch_size = 32;
  Net net;
  net->to(device);
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  const auto images = torch::randn({batches * batch_size, 64}, torch::kDouble)
                          .to(torch::kFloat)
                          .to(device);
  const auto labels =
      torch::randint(10, {batches * batch_size}, torch::kInt64).to(device);
  double last = 0;
  {
    measure::Loop loop("training");
    for (int64_t epoch = 0; epoch < 3 * measure::size(); ++epoch) {
      auto sum = torch::zeros({}, torch::dtype(torch::kDouble).device(device));
      for (int64_t batch = 0; batch < batches; ++batch) {
        const auto x = images.narrow(0, batch * batch_size, batch_size);
        const auto y = labels.narrow(0, batch * batch_size, batch_size);
        const auto loss = torch::nn::functional::cross_entropy(net(x), y);
        optimizer.zero_grad();
        loss.backward();
        optimizer.step();
        sum += loss.detach();
        loop.iteration();
      }
      last = sum.item<double>() / batches;
    }
  }
  measure::value("loss", last);
  return measure::finish();
}
