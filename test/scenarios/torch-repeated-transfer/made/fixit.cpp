// Vectors are replaced by the nearest of a codebook, a classifier is trained
// with a weight for each class, and images are classified in batches. Codebook
// and weights come from a file of doubles, images from a decoder of bytes.
// --size: that many times as many codes, classes and images of a batch.
#include "measure.h"

namespace {

constexpr int64_t features = 32;
constexpr int64_t batch_size = 64;

// The mean distance to the nearest code.
double quantize(const torch::Tensor &data, const torch::Tensor &codebook,
                torch::Device device) {
  double sum = 0;
  measure::Loop loop("codebook");
  const auto codes = codebook.to(device, torch::kFloat32);
  for (int64_t first = 0; first < data.size(0); first += batch_size) {
    const auto batch = data.narrow(0, first, batch_size);
    const auto nearest = std::get<0>(torch::cdist(batch, codes).min(1));
    sum += nearest.mean().item<double>();
    loop.iteration();
  }
  return sum * batch_size / data.size(0);
}

double train_classifier(const torch::Tensor &data, const torch::Tensor &labels,
                        const torch::Tensor &class_weights,
                        torch::Device device) {
  torch::nn::Linear net(features, class_weights.size(0));
  net->to(device);
  torch::optim::SGD optimizer(net->parameters(), 0.1);

  double last = 0;
  measure::Loop loop("class_weights");
  const auto weights = class_weights.to(device, torch::kFloat32);
  for (int64_t first = 0; first < data.size(0); first += batch_size) {
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

// Images are decoded one by one. How many are bright.
int64_t count_bright(const std::vector<torch::Tensor> &decoded,
                     torch::Device device) {
  const size_t images_of_batch = 16 * measure::size();
  int64_t bright = 0;
  measure::Loop loop("images");
  for (size_t first = 0; first < decoded.size(); first += images_of_batch) {
    std::vector<torch::Tensor> images;
    for (size_t i = first; i < first + images_of_batch; ++i)
      images.push_back(decoded[i].to(device, torch::kFloat32));
    const auto batch = torch::stack(images);
    bright += batch.mean({1, 2}).gt(127).sum().item<int64_t>();
    loop.iteration();
  }
  return bright;
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  const int64_t size = measure::size();
  torch::manual_seed(1);
  const auto codebook = torch::randn({512 * size, features}, torch::kFloat64);
  const auto class_weights = torch::rand({10 * size}, torch::kFloat64) + 0.5;
  const auto data = torch::randn({60 * batch_size, features}, device);
  const auto labels =
      torch::randint(class_weights.size(0), {data.size(0)},
                     torch::dtype(torch::kInt64).device(device));
  std::vector<torch::Tensor> decoded;
  for (int64_t i = 0; i < 60 * 16 * size; ++i)
    decoded.push_back(torch::randint(256, {24, 24}, torch::kUInt8));

  measure::value("distance", quantize(data, codebook, device));
  measure::value("loss", train_classifier(data, labels, class_weights, device));
  measure::value("bright", static_cast<double>(count_bright(decoded, device)));
  return measure::finish();
}
