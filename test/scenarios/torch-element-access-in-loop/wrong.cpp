// A classifier of digits is evaluated: of each batch the labels and what was
// guessed go into a confusion matrix.
// --size: that many times as many images of a batch.
//
// MEASURE evaluation synchronisations factor=20 grows=linear unfixed
// MEASURE evaluation milliseconds report
// MEASURE process correct same
// MEASURE process largest same
#include "measure.h"

namespace {

constexpr int64_t classes = 10;

struct NetImpl : torch::nn::Module {
  NetImpl()
      : hidden(register_module("hidden", torch::nn::Linear(64, 32))),
        output(register_module("output", torch::nn::Linear(32, classes))) {}

  torch::Tensor forward(const torch::Tensor &x) {
    return output(torch::relu(hidden(x)));
  }

  torch::nn::Linear hidden, output;
};
TORCH_MODULE(Net);

void count(torch::Tensor &confusion, const torch::Tensor &labels,
           const torch::Tensor &guesses) {
  for (int64_t i = 0; i < labels.size(0); ++i) {
    const auto label = labels[i].item<int64_t>(); // BAD
    const auto guess = guesses[i].item<int64_t>();
    confusion[label][guess] += 1;
  }
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  const torch::NoGradGuard no_grad;
  const int64_t batch_size = 64 * measure::size();
  Net net;
  net->to(device);
  net->eval();
  const auto images = torch::randn({60 * batch_size, 64}).to(device);
  const auto labels = torch::randint(classes, {60 * batch_size}, torch::kInt64)
                          .to(device);
  auto confusion = torch::zeros({classes, classes});
  {
    measure::Loop loop("evaluation");
    for (int64_t first = 0; first < images.size(0); first += batch_size) {
      const auto output = net->forward(images.narrow(0, first, batch_size));
      count(confusion, labels.narrow(0, first, batch_size), output.argmax(1));
      loop.iteration();
    }
  }
  measure::value("correct", confusion.trace().item<double>());
  measure::value("largest", confusion.max().item<double>());
  return measure::finish();
}
