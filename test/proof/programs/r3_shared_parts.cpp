// Lists that are filled with one tensor or layer, and weights that are cast under autocast.
#include <torch/torch.h>

#include <ATen/autocast_mode.h>

#include <array>
#include <iostream>
#include <vector>

namespace {

constexpr int64_t kWidth = 12;

double counted() {
  // PLANT true torch-fill-alias/tensor: all classes add to one tensor
  std::vector<torch::Tensor> sums(5, torch::zeros({kWidth}));
  for (int64_t i = 0; i < 60; ++i)
    sums[i % 5] += torch::ones({kWidth}) * static_cast<double>(i);
  return torch::stack(sums).sum().item<double>();
}

double replaced() {
  // PLANT innocent torch-fill-alias/tensor: each element gets a sum of its own, and the zeros stay
  std::vector<torch::Tensor> sums(5, torch::zeros({kWidth}));
  for (int64_t i = 0; i < 60; ++i)
    sums[i % 5] = sums[i % 5] + torch::ones({kWidth}) * static_cast<double>(i);
  return torch::stack(sums).sum().item<double>();
}

double cloned() {
  // PLANT innocent torch-fill-alias/tensor: each element is cloned before any is written
  std::vector<torch::Tensor> sums(5, torch::zeros({kWidth}));
  for (auto &each : sums)
    each = each.clone();
  for (int64_t i = 0; i < 60; ++i)
    sums[i % 5] += static_cast<double>(i);
  return torch::stack(sums).sum().item<double>();
}

double onlyRead() {
  std::array<torch::Tensor, 4> biases;
  // PLANT innocent torch-fill-alias/tensor: nobody writes to them
  biases.fill(torch::full({kWidth}, 0.5));
  double sum = 0;
  for (int64_t i = 0; i < 40; ++i)
    sum += (torch::ones({kWidth}) + biases[i % 4]).sum().item<double>();
  return sum;
}

double writtenByOne() {
  auto total = torch::zeros({kWidth});
  for (int64_t i = 0; i < 40; ++i) {
    // PLANT innocent torch-fill-alias/tensor: one place is written, which is made anew each time
    std::vector<torch::Tensor> places(3, torch::zeros({kWidth}));
    places[0] += static_cast<double>(i);
    total += places[0];
  }
  return total.sum().item<double>();
}

struct DeepImpl : torch::nn::Module {
  explicit DeepImpl(int64_t depth)
      // PLANT true torch-fill-alias/module: six layers with the parameters of one
      : layers(depth, torch::nn::Linear(kWidth, kWidth)) {
    for (int64_t i = 0; i < depth; ++i)
      register_module("layer" + std::to_string(i), layers[i]);
  }
  torch::Tensor forward(torch::Tensor x) {
    for (auto &layer : layers)
      x = torch::tanh(layer(x));
    return x;
  }
  std::vector<torch::nn::Linear> layers;
};
TORCH_MODULE(Deep);

struct ProperImpl : torch::nn::Module {
  explicit ProperImpl(int64_t depth)
      // PLANT innocent torch-fill-alias/module: each is replaced before it is registered
      : layers(depth, torch::nn::Linear(kWidth, kWidth)) {
    for (int64_t i = 0; i < depth; ++i) {
      layers[i] = torch::nn::Linear(kWidth, kWidth);
      register_module("layer" + std::to_string(i), layers[i]);
    }
  }
  torch::Tensor forward(torch::Tensor x) {
    for (auto &layer : layers)
      x = torch::tanh(layer(x));
    return x;
  }
  std::vector<torch::nn::Linear> layers;
};
TORCH_MODULE(Proper);

template <typename Net> double fit(Net &net) {
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  const auto x = torch::randn({8, kWidth});
  double last = 0;
  for (int step = 0; step < 20; ++step) {
    optimizer.zero_grad();
    const auto loss = torch::mse_loss(net->forward(x), x);
    loss.backward();
    optimizer.step();
    last = loss.template item<double>();
  }
  return last;
}

torch::Tensor leaf() { return torch::randn({kWidth, 2}).requires_grad_(); }

// A product under autocast, which keeps its copy of the leaf.
torch::Tensor pass(const torch::Tensor &weight, const torch::Tensor &x) {
  at::autocast::set_autocast_enabled(at::kCPU, true);
  const auto y = torch::mm(x, weight);
  at::autocast::set_autocast_enabled(at::kCPU, false);
  return y.to(torch::kFloat);
}

double halfStale() {
  const auto weight = leaf();
  torch::optim::SGD optimizer({weight}, 0.1);
  const auto x = torch::randn({8, kWidth}), y = torch::randn({8, 2});
  for (int step = 0; step < 20; ++step) {
    optimizer.zero_grad();
    torch::mse_loss(pass(weight, x), y).backward();
    // PLANT true torch-autocast-cache/stale: the passes go on with the first copy of the weight
    optimizer.step();
  }
  return weight.sum().item<double>();
}

double halfFresh() {
  const auto weight = leaf();
  torch::optim::SGD optimizer({weight}, 0.1);
  const auto x = torch::randn({8, kWidth}), y = torch::randn({8, 2});
  for (int step = 0; step < 20; ++step) {
    optimizer.zero_grad();
    torch::mse_loss(pass(weight, x), y).backward();
    // PLANT innocent torch-autocast-cache/stale: the cache is emptied behind each step
    optimizer.step();
    at::autocast::clear_cache();
  }
  return weight.sum().item<double>();
}

double halfTeacher() {
  const auto teacher = leaf(), weight = leaf();
  torch::optim::SGD optimizer({weight}, 0.1);
  const auto x = torch::randn({8, kWidth});
  for (int step = 0; step < 20; ++step) {
    const auto wanted = pass(teacher, x).detach();
    optimizer.zero_grad();
    torch::mse_loss(x.mm(weight), wanted).backward();
    // PLANT innocent torch-autocast-cache/stale: the teacher alone runs under autocast, and it never changes
    optimizer.step();
  }
  return weight.sum().item<double>();
}

double halfLinear() {
  torch::nn::Linear net(kWidth, 2);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  const auto x = torch::randn({8, kWidth}), y = torch::randn({8, 2});
  for (int step = 0; step < 20; ++step) {
    optimizer.zero_grad();
    at::autocast::set_autocast_enabled(at::kCPU, true);
    const auto out = net(x);
    at::autocast::set_autocast_enabled(at::kCPU, false);
    torch::mse_loss(out.to(torch::kFloat), y).backward();
    // PLANT true torch-autocast-cache/stale: a Linear keeps a copy of its bias, though none of its weight
    optimizer.step();
  }
  return net->weight.sum().item<double>();
}

} // namespace

int main() {
  torch::manual_seed(5);
  double sum = counted() + replaced() + cloned() + onlyRead() + writtenByOne();
  Deep deep(6);
  Proper proper(6);
  sum += fit(deep) + fit(proper);
  sum += halfFresh();
  sum += halfTeacher();
  sum += halfLinear();
  at::autocast::clear_cache();
  sum += halfStale();
  at::autocast::clear_cache();
  std::cout << sum << '\n';
  return 0;
}
