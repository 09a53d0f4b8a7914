// A denoising variational autoencoder. The trainer is a class with everything in
// members; what is reported comes from running means on the device.
#include <torch/torch.h>

#include <iostream>
#include <memory>
#include <utility>

namespace vae {

struct Output {
  torch::Tensor reconstruction, mu, log_var;
};

class VAEImpl : public torch::nn::Module {
 public:
  VAEImpl(int64_t image, int64_t hidden, int64_t latent)
      : fc1_(register_module("fc1", torch::nn::Linear(image, hidden))),
        mu_(register_module("mu", torch::nn::Linear(hidden, latent))),
        log_var_(register_module("log_var", torch::nn::Linear(hidden, latent))),
        fc4_(register_module("fc4", torch::nn::Linear(latent, hidden))),
        fc5_(register_module("fc5", torch::nn::Linear(hidden, image))) {}

  std::pair<torch::Tensor, torch::Tensor> encode(const torch::Tensor& x) {
    auto h = torch::relu(fc1_(x));
    return {mu_(h), log_var_(h)};
  }

  torch::Tensor decode(const torch::Tensor& z) {
    return torch::sigmoid(fc5_(torch::relu(fc4_(z))));
  }

  Output forward(const torch::Tensor& x) {
    auto [mu, log_var] = encode(x);
    auto z = mu;
    if (is_training())
      z = mu + torch::randn_like(mu) * torch::exp(log_var / 2);
    return {decode(z), mu, log_var};
  }

 private:
  torch::nn::Linear fc1_, mu_, log_var_, fc4_, fc5_;
};
TORCH_MODULE(VAE);

class Trainer {
 public:
  Trainer(torch::Device device, torch::Tensor mean_image)
      : device_(device), model_(784, 400, 20), mean_image_(std::move(mean_image)) {
    model_->to(device_);
    optimizer_ = std::make_unique<torch::optim::Adam>(model_->parameters(), 1e-3);
    smoothed_ = torch::zeros({}, device_);
  }

  template <typename Loader>
  void fit(Loader& loader, int epochs) {
    auto mean = mean_image_.to(device_);
    torch::Tensor mask = torch::empty({128, 784}, device_);
    for (int epoch = 0; epoch < epochs; ++epoch) {
      model_->train();
      auto kl_sum = torch::zeros({}, device_);
      int64_t batches = 0;
      for (auto& batch : loader) {
        auto images = batch.data.to(device_).reshape({-1, 784}) - mean;
        mask.bernoulli_(0.9);
        auto noisy = images * mask.narrow(0, 0, images.size(0));
        auto loss = step(images, noisy, kl_sum);
        smoothed_ = 0.99 * smoothed_ + 0.01 * loss.detach();
        ++batches;
      }
      std::cout << "epoch " << epoch << " loss " << smoothed_.item<double>() << " kl "
                << kl_sum.item<double>() / batches << std::endl;
    }
  }

  // The mean squared error of the reconstruction, over a whole data set.
  template <typename Loader>
  double evaluate(Loader& loader) {
    torch::NoGradGuard guard;
    model_->eval();
    auto mean = mean_image_.to(device_);
    double sum = 0;
    int64_t count = 0;
    for (const auto& batch : loader) {
      auto images = batch.data.to(device_).reshape({-1, 784}) - mean;
      auto output = model_->forward(images);
      sum += torch::mse_loss(output.reconstruction, images, torch::Reduction::Sum)
                 .template item<double>();
      count += images.numel();
    }
    return sum / count;
  }

  torch::Tensor sample(int64_t count) {
    torch::NoGradGuard guard;
    model_->eval();
    return model_->decode(torch::randn({count, 20}, device_)).view({-1, 1, 28, 28}).cpu();
  }

 private:
  torch::Tensor step(const torch::Tensor& images, const torch::Tensor& noisy,
                     torch::Tensor& kl_sum) {
    auto output = model_->forward(noisy);
    auto reconstruction = torch::binary_cross_entropy(
        output.reconstruction, images.clamp(0, 1), {}, torch::Reduction::Sum);
    auto kl = -0.5 * torch::sum(1 + output.log_var - output.mu.pow(2) - output.log_var.exp());
    auto loss = reconstruction + kl;
    model_->zero_grad();
    loss.backward();
    optimizer_->step();
    kl_sum += kl.detach();
    last_code_ = output.mu.detach();
    return loss;
  }

  torch::Device device_;
  VAE model_;
  torch::Tensor mean_image_;
  std::unique_ptr<torch::optim::Adam> optimizer_;
  torch::Tensor smoothed_;
  torch::Tensor last_code_;
};

}  // namespace vae

int main() {
  torch::Device device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
  auto make_loader = [](torch::data::datasets::MNIST::Mode mode) {
    return torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
        torch::data::datasets::MNIST("./mnist", mode)
            .map(torch::data::transforms::Stack<>()),
        128);
  };
  auto training = make_loader(torch::data::datasets::MNIST::Mode::kTrain);
  auto testing = make_loader(torch::data::datasets::MNIST::Mode::kTest);
  vae::Trainer trainer(device, torch::full({784}, 0.1307));
  trainer.fit(*training, 15);
  std::cout << "error " << trainer.evaluate(*testing) << std::endl;
  torch::save(trainer.sample(64), "samples.pt");
}
