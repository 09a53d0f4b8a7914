// Modules whose members are, or seem to be, others than those that are registered.
#include <torch/torch.h>

#include <iostream>
#include <sstream>

namespace {

struct DriftImpl : torch::nn::Module {
  DriftImpl() {
    mean = register_buffer("mean", torch::zeros({6}));
    scale = register_buffer("scale", torch::ones({6}));
    start = register_buffer("start", torch::zeros({6}));
    shift = register_buffer("shift", torch::zeros({6}));
    state = start;
    fc = register_module("fc", torch::nn::Linear(6, 4));
  }

  torch::Tensor forward(const torch::Tensor &x) {
    if (is_training()) {
      torch::NoGradGuard no_grad;
      // PLANT true torch-reassigned-member/buffer: the buffer goes on under a name that nobody saves
      mean = 0.95 * mean + 0.05 * x.mean(0);
      // PLANT innocent torch-reassigned-member/buffer: it is the same tensor, written in place
      scale = scale.mul_(0.95).add_(0.05 * x.std(0));
      // PLANT innocent torch-reassigned-member/buffer: the state begins at the buffer, which stays the start
      state = 0.5 * state + x.mean(0);
      auto moved = shift;
      // PLANT innocent torch-reassigned-member/buffer: a variable of the function gets the new tensor
      moved = moved + x.amax(0);
      drift += moved.sum().item<double>();
    }
    return fc(((x - mean) / scale) + 0 * state);
  }

  double drift = 0;
  torch::Tensor mean, scale, start, state, shift;
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Drift);

struct PrunedImpl : torch::nn::Module {
  PrunedImpl() {
    weight = register_parameter("weight", torch::randn({6, 3}));
    gain = register_parameter("gain", torch::ones({3}));
    bias = register_parameter("bias", torch::zeros({3}));
  }
  torch::Tensor forward(const torch::Tensor &x) { return x.mm(weight) * gain + bias; }
  void prune() {
    torch::NoGradGuard no_grad;
    // PLANT true torch-reassigned-member/parameter: the pruned weight is in no list of parameters
    weight = weight * (weight.abs() > 0.3);
    const auto halved = gain * 0.5;
    // PLANT innocent torch-reassigned-member/parameter: the member's memory is written, and it stays
    gain.copy_(gain * 0.25 + halved * 0.5);
  }
  // PLANT innocent torch-reassigned-member/parameter: handed out, and the member stays
  torch::Tensor doubled() const { return bias * 2; }
  torch::Tensor weight, gain, bias;
};
TORCH_MODULE(Pruned);

struct NoisyImpl : torch::nn::Module {
  NoisyImpl() { fc = register_module("fc", torch::nn::Linear(6, 2)); }
  torch::Tensor forward(const torch::Tensor &x) { return drop(fc(x)); }
  torch::nn::Linear fc{nullptr};
  // PLANT true torch-unregistered-module/mode-only: eval() does not reach it
  torch::nn::Dropout drop{0.4};
};
TORCH_MODULE(Noisy);

struct CarefulImpl : torch::nn::Module {
  CarefulImpl() { fc = register_module("fc", torch::nn::Linear(6, 2)); }
  torch::Tensor forward(const torch::Tensor &x) { return drop(fc(x)); }
  void train(bool on = true) override {
    torch::nn::Module::train(on);
    drop->train(on);
  }
  torch::nn::Linear fc{nullptr};
  // PLANT innocent torch-unregistered-module/mode-only: train() of the class hands the mode on
  torch::nn::Dropout drop{0.4};
};
TORCH_MODULE(Careful);

struct TunedImpl : torch::nn::Module {
  TunedImpl() {
    fc = register_module("fc", torch::nn::Linear(6, 4));
    // PLANT innocent torch-unregistered-module/submodule: the caller gives its parameters to the optimizer
    head = torch::nn::Linear(4, 2);
    // PLANT true torch-unregistered-module/submodule: nobody gives these to anyone
    lost = torch::nn::Linear(4, 2);
  }
  torch::Tensor forward(const torch::Tensor &x) {
    const auto y = torch::relu(fc(x));
    return head(y) + lost(y);
  }
  torch::nn::Linear fc{nullptr}, head{nullptr}, lost{nullptr};
};
TORCH_MODULE(Tuned);

template <typename Net> void train(Net &net, torch::optim::Optimizer &optimizer, int64_t classes) {
  net->train();
  for (int64_t step = 0; step < 40; ++step) {
    const auto x = torch::randn({16, 6});
    const auto label = torch::randint(0, classes, {16}, torch::kLong);
    optimizer.zero_grad();
    torch::cross_entropy_loss(net->forward(x), label).backward();
    optimizer.step();
  }
}

template <typename Net> double answer(Net &net) {
  net->eval();
  torch::NoGradGuard no_grad;
  return net->forward(torch::ones({5, 6})).sum().template item<double>();
}

} // namespace

int main() {
  torch::manual_seed(3);
  double sum = 0;
  {
    Drift net;
    torch::optim::SGD optimizer(net->parameters(), 0.05);
    train(net, optimizer, 4);
    sum += answer(net) + net->drift;
    std::stringstream file;
    torch::save(net, file);
  }
  {
    Pruned net;
    torch::optim::SGD optimizer(net->parameters(), 0.05);
    train(net, optimizer, 3);
    sum += net->doubled().sum().item<double>();
    net->prune();
    sum += answer(net);
    std::stringstream file;
    torch::save(net, file);
  }
  {
    Noisy noisy;
    torch::optim::SGD optimizer(noisy->parameters(), 0.05);
    train(noisy, optimizer, 2);
    sum += answer(noisy) + answer(noisy);
  }
  {
    Careful careful;
    torch::optim::SGD optimizer(careful->parameters(), 0.05);
    train(careful, optimizer, 2);
    sum += answer(careful) + answer(careful);
  }
  {
    Tuned net;
    auto parameters = net->parameters();
    for (const auto &each : net->head->parameters())
      parameters.push_back(each);
    torch::optim::SGD optimizer(parameters, 0.05);
    train(net, optimizer, 2);
    sum += answer(net);
  }
  std::cout << sum << '\n';
  return 0;
}
