// FGSM / PGD on a small classifier, and adversarial training with the attack inside.
#include <torch/torch.h>
#include <iostream>
#include <optional>

struct AttackOptions {
  double eps = 0.1, alpha = 0.03;
  int steps = 8;
  bool randomStart = true;
};

torch::nn::Sequential makeNet() {
  using namespace torch::nn;
  return Sequential(Conv2d(Conv2dOptions(1, 8, 3).padding(1)), ReLU(), MaxPool2d(2),
                    Conv2d(Conv2dOptions(8, 16, 3).padding(1)), ReLU(), AdaptiveAvgPool2d(4),
                    Flatten(), Linear(256, 4));
}

// Four classes: a bright quadrant on noise, stored in double as the simulator writes it.
std::pair<torch::Tensor, torch::Tensor> makeBatch(int64_t n) {
  auto labels = torch::randint(4, {n}, torch::kLong);
  auto images = torch::rand({n, 1, 32, 32}, torch::kDouble) * 0.5;
  for (int64_t i = 0; i < n; ++i) {
    auto c = labels[i].item<int64_t>();
    images[i][0].slice(0, 16 * (c / 2), 16 * (c / 2) + 16).slice(1, 16 * (c % 2), 16 * (c % 2) + 16).add_(0.4);
  }
  return {images, labels};
}

torch::Tensor fgsm(torch::nn::Sequential& net, const torch::Tensor& images, const torch::Tensor& labels, double eps) {
  auto x = images.to(torch::kFloat).clone().requires_grad_();
  auto loss = torch::cross_entropy_loss(net->forward(x), labels);  // RIGHT: torch-missing-no-grad (the gradient of the input is wanted)
  loss.backward();
  torch::NoGradGuard guard;
  return x.add_(eps * x.grad().sign()).clamp_(0, 1).detach();  // RIGHT: torch-leaf-inplace (under a guard)
}

torch::Tensor fgsmInPlace(torch::nn::Sequential& net, torch::Tensor images, const torch::Tensor& labels, double eps) {
  auto x = images.to(torch::kFloat).clone().requires_grad_();
  torch::cross_entropy_loss(net->forward(x), labels).backward();
  x += eps * x.grad().sign();  // EXPECT: torch-leaf-inplace
  return x.detach().clamp(0, 1);
}

torch::Tensor pgd(torch::nn::Sequential& net, const torch::Tensor& images, const torch::Tensor& labels, const AttackOptions& o) {
  auto adv = images.to(torch::kFloat).clone();
  if (o.randomStart) adv.add_(torch::empty_like(adv).uniform_(-o.eps, o.eps)).clamp_(0, 1);
  for (int i = 0; i < o.steps; ++i) {
    adv.requires_grad_();
    auto loss = torch::cross_entropy_loss(net->forward(adv), labels);
    auto grad = torch::autograd::grad({loss}, {adv})[0];
    auto window = torch::zeros({1, 1, 32, 32});  // EXPECT: torch-allocation-in-loop
    window.slice(2, 2, 30).slice(3, 2, 30).fill_(1);  // the frame of the sensor stays as it is
    auto moved = adv.detach() + o.alpha * grad.sign() * window;
    auto delta = (moved - images.to(torch::kFloat)).clamp(-o.eps, o.eps);  // EXPECT: torch-repeated-transfer
    adv = (images.to(torch::kFloat) + delta).clamp(0, 1).detach();  // EXPECT: torch-repeated-transfer
  }
  return adv;  // RIGHT: torch-undetached-hidden-state (detached in every step)
}

double accuracy(torch::nn::Sequential& net, const torch::Tensor& x, const torch::Tensor& y) {
  torch::NoGradGuard guard;
  return net->forward(x.to(torch::kFloat)).argmax(1).eq(y).to(torch::kFloat).mean().item<double>();
}

int main() {
  torch::manual_seed(9);
  auto net = makeNet();
  torch::optim::Adam opt(net->parameters(), torch::optim::AdamOptions(3e-3));
  AttackOptions options;
  for (int it = 0; it < 30; ++it) {
    auto [images, labels] = makeBatch(32);
    auto adv = pgd(net, images, labels, options);
    auto both = torch::cat({images.to(torch::kFloat), adv});  // RIGHT: torch-repeated-transfer (the batch of this iteration)
    auto loss = torch::cross_entropy_loss(net->forward(both), torch::cat({labels, labels}));
    opt.zero_grad();
    loss.backward();
    opt.step();
  }

  auto [x, y] = makeBatch(128);
  std::cout << "clean " << accuracy(net, x, y) << ", fgsm " << accuracy(net, fgsm(net, x, y, 0.1), y);
  options.steps = 20;
  std::cout << ", pgd " << accuracy(net, pgd(net, x, y, options), y) << "\n";
  try {
    std::cout << "in place " << accuracy(net, fgsmInPlace(net, x, y, 0.1), y) << "\n";
  } catch (const c10::Error& e) {
    std::cout << "skipped: " << std::string(e.what_without_backtrace()).substr(0, 70) << "\n";
  }
}
