// The texture of images is measured with a table of counts for each, and a GAN
// learns to draw points of a ring.
// --size: that many times as many images, and as large a batch of the GAN.
#include "measure.h"

namespace {

constexpr int64_t levels = 64;
constexpr int64_t noise_size = 8;

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

torch::nn::Sequential make_net(int64_t in, int64_t out, torch::Device device) {
  torch::nn::Sequential net(torch::nn::Linear(in, 64), torch::nn::LeakyReLU(),
                            torch::nn::Linear(64, 64), torch::nn::LeakyReLU(),
                            torch::nn::Linear(64, out));
  net->to(device);
  return net;
}

// Batches of points.
torch::Tensor make_ring(int64_t count, torch::Device device) {
  const auto angle = torch::rand({count}, device) * (2 * M_PI);
  const auto radius = 1 + 0.05 * torch::randn({count}, device);
  const auto points = torch::stack({angle.cos(), angle.sin()}, 1);
  return (points * radius.view({-1, 1})).view({10, -1, 2});
}

// The mean distance of the points that it draws in the end from the middle.
double train_gan(torch::Device device) {
  const int64_t batch_size = 256 * measure::size();
  const auto ring = make_ring(10 * batch_size, device);
  auto generator = make_net(noise_size, 2, device);
  auto discriminator = make_net(2, 1, device);
  torch::optim::Adam generating(generator->parameters(), 1e-3);
  torch::optim::Adam discriminating(discriminator->parameters(), 1e-3);

  torch::Tensor drawn;
  measure::Loop loop("gan");
  const auto real = torch::ones({batch_size, 1}, device);
  const auto fake = torch::zeros({batch_size, 1}, device);
  for (int step = 0; step < 200; ++step) {
    // The noise is drawn anew in every step, the labels are always the same.

    const auto noise = torch::randn({batch_size, noise_size}, device);
    drawn = generator->forward(noise);

    discriminating.zero_grad();
    const auto points = ring[step % ring.size(0)];
    const auto on_ring = discriminator->forward(points);
    const auto on_drawn = discriminator->forward(drawn.detach());
    const auto mistakes =
        torch::binary_cross_entropy_with_logits(on_ring, real) +
        torch::binary_cross_entropy_with_logits(on_drawn, fake);
    mistakes.backward();
    discriminating.step();

    generating.zero_grad();
    const auto detected = torch::binary_cross_entropy_with_logits(
        discriminator->forward(drawn), real);
    detected.backward();
    generating.step();
    loop.iteration();
  }
  return drawn.detach().norm(2, 1).mean().item<double>();
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  const auto images =
      torch::randint(levels, {100 * measure::size(), 48, 48},
                     torch::dtype(torch::kInt64).device(device));
  measure::value("contrast", mean_contrast(images));
  measure::value("mean_radius", train_gan(device));
  return measure::finish();
}
