// The texture of images is measured with one table of counts, and a
// discriminator is trained to tell samples from noise.
#include "measure.h"

namespace {

constexpr int64_t levels = 64;
constexpr int64_t batch_size = 256;
constexpr int64_t features = 32;

// How often each pair of neighbouring grey levels occurs in an image, and the
// contrast that follows from it.
double mean_contrast(const torch::Tensor &images) {
  const auto options = images.options().dtype(torch::kFloat32);
  const auto row = torch::arange(levels, options).view({1, -1});
  const auto weights = (row - row.t()).pow(2).flatten();
  const int64_t width = images.size(2);
  const auto ones = torch::ones({images.size(1) * (width - 1)}, options);

  double sum = 0;
  measure::Loop loop("counts");
  auto counts = torch::zeros({levels * levels}, options);
  for (int64_t i = 0; i < images.size(0); ++i) {
    counts.zero_();
    const auto left = images[i].narrow(1, 0, width - 1);
    const auto right = images[i].narrow(1, 1, width - 1);
    counts.index_add_(0, (left * levels + right).flatten(), ones);
    sum += (counts * weights).sum().item<double>() / ones.size(0);
    loop.iteration();
  }
  return sum / images.size(0);
}

// The noise is drawn anew in every step, the labels are always the same.
double train_discriminator(torch::Device device) {
  torch::nn::Sequential net(torch::nn::Linear(features, 64), torch::nn::ReLU(),
                            torch::nn::Linear(64, 1));
  net->to(device);
  torch::optim::SGD optimizer(net->parameters(), 0.1);

  const auto samples = torch::randn({batch_size, features}, device) * 0.5 + 1;
  const auto noise = torch::empty({batch_size, features}, device);
  double last = 0;
  measure::Loop loop("training");
  const auto real = torch::ones({batch_size, 1}, device);
  const auto fake = torch::zeros({batch_size, 1}, device);
  for (int step = 0; step < 100; ++step) {
    noise.normal_();
    const auto loss =
        torch::binary_cross_entropy_with_logits(net->forward(samples), real) +
        torch::binary_cross_entropy_with_logits(net->forward(noise), fake);
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
  const auto images = torch::randint(
      levels, {100, 48, 48}, torch::dtype(torch::kInt64).device(device));
  measure::value("contrast", mean_contrast(images));
  measure::value("loss", train_discriminator(device));
  return measure::finish();
}
