// A deep convolutional GAN; both networks are torch::nn::Sequential.
#include <torch/torch.h>

#include <cmath>
#include <iostream>
#include <vector>

namespace nn = torch::nn;

static nn::Sequential make_generator(int noise) {
  return nn::Sequential(
      nn::ConvTranspose2d(nn::ConvTranspose2dOptions(noise, 256, 4).bias(false)),
      nn::BatchNorm2d(256), nn::ReLU(),
      nn::ConvTranspose2d(
          nn::ConvTranspose2dOptions(256, 128, 3).stride(2).padding(1).bias(false)),
      nn::BatchNorm2d(128), nn::ReLU(),
      nn::ConvTranspose2d(
          nn::ConvTranspose2dOptions(128, 64, 4).stride(2).padding(1).bias(false)),
      nn::BatchNorm2d(64), nn::ReLU(),
      nn::ConvTranspose2d(
          nn::ConvTranspose2dOptions(64, 1, 4).stride(2).padding(1).bias(false)),
      nn::Tanh());
}

static nn::Sequential make_discriminator() {
  auto conv = [](int in, int out, int kernel) {
    return nn::Conv2d(nn::Conv2dOptions(in, out, kernel).stride(2).padding(1).bias(false));
  };
  return nn::Sequential(conv(1, 64, 4), nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)), conv(64, 128, 4),
                        nn::BatchNorm2d(128), nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)), conv(128, 256, 4),
                        nn::BatchNorm2d(256), nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)),
                        nn::Conv2d(nn::Conv2dOptions(256, 1, 3).bias(false)),
                        nn::Sigmoid());
}

struct Epoch {
  double d_loss = 0;
  double g_loss = 0;
};

int main() {
  const int kNoise = 100;
  const int64_t kBatch = 64;
  torch::Device device(torch::kCPU);
  if (torch::cuda::is_available())
    device = torch::Device(torch::kCUDA);

  auto generator = make_generator(kNoise);
  auto discriminator = make_discriminator();
  generator->to(device);
  discriminator->to(device);

  auto dataset = torch::data::datasets::MNIST("./mnist")
                     .map(torch::data::transforms::Normalize<>(0.5, 0.5))
                     .map(torch::data::transforms::Stack<>());
  auto data_loader = torch::data::make_data_loader(
      std::move(dataset), torch::data::DataLoaderOptions().batch_size(kBatch));

  torch::optim::Adam generator_optimizer(
      generator->parameters(),
      torch::optim::AdamOptions(2e-4).betas(std::make_tuple(0.5, 0.999)));
  torch::optim::Adam discriminator_optimizer(
      discriminator->parameters(),
      torch::optim::AdamOptions(5e-4).betas(std::make_tuple(0.5, 0.999)));

  auto fixed_noise = torch::randn({16, kNoise, 1, 1}, device);
  auto soft_ones = torch::full({kBatch}, 0.9, device);
  auto fakes = torch::zeros({kBatch}, device);
  auto reals = torch::ones({kBatch}, device);
  std::vector<Epoch> epochs;
  std::vector<double> real_scores;
  for (int epoch = 1; epoch <= 30; ++epoch) {
    Epoch stats;
    int64_t batches = 0;
    for (torch::data::Example<>& batch : *data_loader) {
      const auto n = batch.data.size(0);

      // Train the discriminator with real images, then with fakes.
      discriminator->zero_grad();
      torch::Tensor real_images = batch.data.to(device);
      torch::Tensor real_output = discriminator->forward(real_images).reshape(n);
      torch::Tensor d_loss_real =
          torch::binary_cross_entropy(real_output, soft_ones.narrow(0, 0, n));
      d_loss_real.backward();
      torch::Tensor noise = torch::randn({n, kNoise, 1, 1}, device);
      torch::Tensor fake_images = generator->forward(noise);
      torch::Tensor fake_output = discriminator->forward(fake_images.detach()).reshape(n);
      torch::Tensor d_loss_fake =
          torch::binary_cross_entropy(fake_output, fakes.narrow(0, 0, n));
      d_loss_fake.backward();
      torch::Tensor d_loss = d_loss_real + d_loss_fake;
      discriminator_optimizer.step();
      real_scores.push_back(real_output.mean().item<double>());

      // Train the generator.
      generator->zero_grad();
      fake_output = discriminator->forward(fake_images).reshape(n);
      torch::Tensor g_loss =
          torch::binary_cross_entropy(fake_output, reals.narrow(0, 0, n));
      g_loss.backward();
      generator_optimizer.step();

      stats.d_loss += d_loss.item<double>();
      stats.g_loss += g_loss.item<double>();
      if (++batches % 200 == 0) {
        torch::InferenceMode guard;
        generator->eval();
        torch::Tensor samples = generator->forward(fixed_noise);
        torch::save((samples + 1) / 2, "samples-" + std::to_string(epoch) + ".pt");
        generator->train();
      }
    }
    std::cout << "epoch " << epoch << " D " << stats.d_loss / batches << " G "
              << stats.g_loss / batches << " real " << real_scores.back() << "\n";
    epochs.push_back(stats);
  }
}
