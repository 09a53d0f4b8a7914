// A network learns a noisy line from few examples, and is set to train() before
// each epoch.
// --size: that many times as many epochs.
#include "measure.h"

namespace {

constexpr int64_t batches = 4, batch_size = 16, features = 20;

struct NetImpl : torch::nn::Module {
  NetImpl() {
    register_module("hidden", hidden);
    register_module("norm", norm);
    register_module("dropout", dropout);
    register_module("last", last);
  }

  torch::Tensor forward(const torch::Tensor &x) {
    return last(dropout(torch::relu(norm(hidden(x))))).squeeze(1);
  }

  torch::nn::Linear hidden{features, 128};
  torch::nn::BatchNorm1d norm{128};
  torch::nn::Dropout dropout{0.5};
  torch::nn::Linear last{128, 1};
};
TORCH_MODULE(Net);

struct Examples {
  torch::Tensor inputs, outputs;
};

Examples draw(int64_t count, torch::Device device) {
  const auto inputs = torch::randn({count, features}, device) * 3 + 2;
  const auto noise = torch::randn({count}, device) * 2;
  return {inputs, inputs.select(1, 0) + noise};
}

torch::Tensor error(Net &net, const Examples &examples) {
  return torch::mse_loss(net->forward(examples.inputs), examples.outputs);
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  Net net;
  net->to(device);
  torch::optim::Adam optimizer(net->parameters(), 1e-2);
  const Examples known = draw(batches * batch_size, device);
  const Examples unknown = draw(1000, device);
  double validation = 0;
  {
    measure::Loop loop("training");
    for (int64_t epoch = 0; epoch < 60 * measure::size(); ++epoch) {
      net->train();
      for (int64_t batch = 0; batch < batches; ++batch) {
        const int64_t from = batch * batch_size;
        const Examples part = {known.inputs.narrow(0, from, batch_size),
                               known.outputs.narrow(0, from, batch_size)};
        optimizer.zero_grad();
        error(net, part).backward();
        optimizer.step();
      }
      net->eval();
      torch::NoGradGuard no_grad;
      validation = error(net, unknown).item<double>();
      loop.iteration();
    }
  }
  measure::value("validation-error", validation);
  measure::value("batches-in-statistics",
                 net->norm->num_batches_tracked.item<double>());
  return measure::finish();
}
