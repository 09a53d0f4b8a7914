// Vectors are replaced by the nearest of a codebook, and a classifier is
// trained with a weight for each class. Codebook and weights come from a file
// of doubles.
#include "measure.h"

namespace {

constexpr int64_t features = 32;
constexpr int64_t classes = 10;
constexpr int64_t batch_size = 64;

// The mean distance to the nearest code.
double quantize(const torch::Tensor &data, const torch::Tensor &codebook,
                torch::Device device) {
  double sum = 0;
  measure::Loop loop("codebook");
  for (int64_t first = 0; first < data.size(0); first += batch_size) {
    const auto batch = data.narrow(0, first, batch_size);
    const auto codes = codebook.to(device, torch::kFloat32); // BAD
    const auto nearest = std::get<0>(torch::cdist(batch, codes).min(1));
    sum += nearest.mean().item<double>();
    loop.iteration();
  }
  return sum * batch_size / data.size(0);
}

double train_classifier(const torch::Tensor &data, const torch::Tensor &labels,
                        const torch::Tensor &class_weights,
                        torch::Device device) {
  torch::nn::Linear net(features, classes);
  net->to(device);
  torch::optim::SGD optimizer(net->parameters(), 0.1);

  double last = 0;
  measure::Loop loop("class_weights");
  for (int64_t first = 0; first < data.size(0); first += batch_size) {
    const auto weights = class_weights.to(device, torch::kFloat32); // BAD
    const auto output = net->forward(data.narrow(0, first, batch_size));
    const auto loss = torch::cross_entropy_loss(
        output, labels.narrow(0, first, batch_size), weights);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
    loop.iteration();
  }
  return last;
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  const auto codebook = torch::randn({512, features}, torch::kFloat64);
  const auto class_weights = torch::rand({classes}, torch::kFloat64) + 0.5;
  const auto data = torch::randn({60 * batch_size, features}, device);
  const auto labels = torch::randint(
      classes, {60 * batch_size}, torch::dtype(torch::kInt64).device(device));

  measure::value("distance", quantize(data, codebook, device));
  measure::value("loss", train_classifier(data, labels, class_weights, device));
  return measure::finish();
}
