// Segmentation with large images: gradients are accumulated over k small batches.
#include <torch/torch.h>

#include <cstdlib>
#include <deque>
#include <iostream>
#include <string>
#include <vector>

struct UNetImpl : torch::nn::Module {
  torch::nn::Conv2d down1{torch::nn::Conv2dOptions(3, 16, 3).padding(1)};
  torch::nn::Conv2d down2{torch::nn::Conv2dOptions(16, 32, 3).padding(1).stride(2)};
  torch::nn::ConvTranspose2d up{torch::nn::ConvTranspose2dOptions(32, 16, 2).stride(2)};
  torch::nn::Conv2d out{torch::nn::Conv2dOptions(32, 2, 1)};

  UNetImpl() {
    register_module("down1", down1);
    register_module("down2", down2);
    register_module("up", up);
    register_module("out", out);
  }

  torch::Tensor forward(torch::Tensor x) {
    auto high = torch::relu(down1(x));
    auto low = torch::relu(down2(high));
    return out(torch::cat({high, torch::relu(up(low))}, 1));
  }
};
TORCH_MODULE(UNet);

struct Dice {
  void add(const torch::Tensor& logits, const torch::Tensor& target) {
    auto predicted = logits.argmax(1);
    both += (predicted * target).sum();
    either += predicted.sum() + target.sum();
  }
  double value() const { return 2 * both.item<double>() / (either.item<double>() + 1e-9); }

  torch::Tensor both = torch::zeros({}, torch::kInt64);
  torch::Tensor either = torch::zeros({}, torch::kInt64);
};

class RunningMean {
 public:
  void push(double value) {
    window_.push_back(value);
    if (window_.size() > 100)
      window_.pop_front();
  }
  double mean() const {
    double sum = 0;
    for (double value : window_)
      sum += value;
    return window_.empty() ? 0 : sum / window_.size();
  }

 private:
  std::deque<double> window_;
};

int main(int argc, char** argv) {
  const int accumulate = argc > 1 ? std::atoi(argv[1]) : 8;
  const auto device = torch::Device(torch::cuda::is_available() ? "cuda:0" : "cpu");
  UNet net;
  net->to(device);
  torch::optim::SGD sgd(net->parameters(),
                        torch::optim::SGDOptions(0.01).momentum(0.9).nesterov(true));

  torch::Tensor images = torch::rand({64, 3, 128, 128});
  torch::Tensor masks = torch::randint(2, {64, 128, 128}, torch::kInt64);
  torch::Tensor class_weight = torch::tensor({1.0, 4.0}, torch::kFloat64);

  torch::Tensor weight = class_weight.to(device, torch::kFloat32);
  torch::Tensor border = torch::ones({2, 128, 128}, device);
  RunningMean running;
  for (int epoch = 0; epoch < 10; ++epoch) {
    net->train();
    sgd.zero_grad();
    Dice train_dice;
    double worst = 0;
    torch::Tensor epoch_loss = torch::zeros({}, device);
    for (int64_t i = 0; i + 2 <= images.size(0); i += 2) {
      auto x = images.narrow(0, i, 2).to(device);
      auto y = masks.narrow(0, i, 2).to(device);
      auto logits = net->forward(x);
      auto per_pixel = torch::cross_entropy_loss(logits, y, weight, torch::Reduction::None);
      auto loss = (per_pixel * border).mean();
      (loss / accumulate).backward();
      epoch_loss.add_(loss.detach());
      train_dice.add(logits.detach(), y);
      running.push(loss.item<double>());
      worst = std::max(worst, loss.item<double>());
      if ((i / 2 + 1) % accumulate == 0) {
        sgd.step();
        sgd.zero_grad();
      }
    }

    net->eval();
    torch::NoGradGuard guard;
    Dice test_dice;
    for (int64_t i = 0; i < 8; ++i) {
      auto logits = net(images.narrow(0, i, 1).to(device));
      test_dice.add(logits.cpu(), masks.narrow(0, i, 1));
    }
    std::cout << epoch << " loss " << epoch_loss.item<double>() << " running "
              << running.mean() << " worst " << worst << " dice " << train_dice.value()
              << " " << test_dice.value() << std::endl;
  }
}
