// The same with one hook, which is registered before the loop.
#include "measure.h"

namespace {

struct ModelImpl : torch::nn::Module {
  ModelImpl()
      : embedding(register_module("embedding", torch::nn::Embedding(26, 16))),
        hidden(register_module("hidden", torch::nn::Linear(64, 32))),
        out(register_module("out", torch::nn::Linear(32, 2))) {}

  torch::Tensor forward(const torch::Tensor &letters) {
    const auto x = embedding(letters).flatten(1);
    return out(torch::tanh(hidden(x)));
  }

  torch::nn::Embedding embedding;
  torch::nn::Linear hidden, out;
};
TORCH_MODULE(Model);

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  Model model;
  model->to(device);
  torch::optim::SGD optimizer(model->parameters(), 0.5);
  const auto words =
      torch::randint(26, {256, 4}, torch::dtype(torch::kLong).device(device));
  // Two neighbours in the alphabet, or not.
  const auto labels =
      (words.select(1, 0) - words.select(1, 1)).abs().le(8).to(torch::kLong);
  const auto before = model->embedding->weight.detach().clone();
  int64_t calls = 0;
  torch::Tensor loss;
  model->embedding->weight.register_hook([&](const torch::Tensor &grad) {
    ++calls;
    return grad * 0.5;
  });
  {
    measure::Loop loop("training");
    for (int64_t step = 0; step < 100 * measure::size(); ++step) {
      loss = torch::cross_entropy_loss(model(words), labels);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      loop.iteration();
    }
  }
  measure::value("hook-calls", calls);
  measure::value("embedding-moved",
                 (model->embedding->weight - before).norm().item<double>());
  measure::value("last-loss", loss.item<double>());
  return measure::finish();
}
