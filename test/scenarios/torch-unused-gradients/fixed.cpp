// Images are classified by a head that is trained on the features of a network
// which was trained before, and which runs under a guard.
// --size: that many times as large a batch.
#include "measure.h"

namespace {

constexpr int64_t classes = 4;

torch::nn::Conv2d conv(int64_t in, int64_t out) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 3).padding(1));
}

torch::nn::Sequential make_backbone() {
  torch::nn::Sequential net(conv(1, 8));
  for (int layer = 1; layer < 10; ++layer) {
    net->push_back(torch::nn::ReLU());
    net->push_back(conv(8, 8));
  }
  return net;
}

torch::Tensor make_labels(int64_t count, torch::Device device) {
  return torch::randint(classes, {count},
                        torch::dtype(torch::kInt64).device(device));
}

// Noise with a brightness for each class.
torch::Tensor make_images(const torch::Tensor &labels) {
  const auto noise = torch::randn({labels.size(0), 1, 16, 16}, labels.device());
  return noise + labels.view({-1, 1, 1, 1});
}

// The loss in the end.
double train(torch::Device device) {
  auto backbone = make_backbone();
  torch::nn::Linear head(8, classes);
  backbone->to(device);
  head->to(device);
  torch::optim::Adam optimizer(head->parameters(), 1e-2);
  torch::Tensor loss;
  measure::Loop loop("training");
  for (int step = 0; step < 60; ++step) {
    const auto labels = make_labels(32 * measure::size(), device);
    torch::Tensor features;
    {
      torch::NoGradGuard no_grad;
      features = backbone->forward(make_images(labels));
    }
    const auto output = head->forward(features.mean({2, 3}));
    loss = torch::nn::functional::cross_entropy(output, labels);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    loop.iteration();
  }
  return loss.item<double>();
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  measure::value("last-loss", train(device));
  return measure::finish();
}
