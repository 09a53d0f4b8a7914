// RUN: %check_torch %s torch-inplace-opportunity %t
//
// What looks like it and is right, or is left alone.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using Tensors = std::vector<Tensor>;

// A graph is recorded, or may be, there or for another caller.
Tensor used(const Tensor &x) { return x.exp().mul(2); }
void recorded(const Tensors &xs) {
  Linear net(4, 4);
  for (const Tensor &x : xs)
    net(x).exp().mul(0.5).sum().backward();
  for (const Tensor &x : xs)
    used(net(x)).sum().backward();
  torch::NoGradGuard no_grad;
  for (const Tensor &x : xs)
    std::cout << used(x);
}
Tensor unknown(const Tensors &xs) {
  Tensor sum = torch::zeros({4});
  for (const Tensor &x : xs)
    sum = sum + x.exp().mul(0.5);
  return sum;
}

// In place already; not of what was just made; of another shape or type; not in
// a loop; small.
void right(const Tensors &xs, const Tensor &mask) {
  torch::NoGradGuard no_grad;
  std::cout << mask.exp().mul(2);
  for (const Tensor &x : xs) {
    std::cout << x.div(255.0).sub_(0.5).mul_(2);
    const Tensor y = x.exp();
    std::cout << y.mul(2) << y;
    std::cout << x.mul(0.5) << x.to(torch::kFloat).mul(0.5);
    std::cout << x.contiguous().exp() << x.view({-1}).exp();
    std::cout << (mask > 0).mul(0.5) << (x + mask).sqrt();
    std::cout << x.sum(1).unsqueeze(1).mul(2);
    std::cout << x.exp().argmax(1).mul(2);
    std::cout << torch::rand({4}).mul(2).sub(1);
    std::cout << x.exp() * mask;
  }
}

// The result in place would be a reference to what is gone: said, not fixed
// (operators.cpp). Here nothing is made at all.
void views(const Tensors &xs) {
  torch::NoGradGuard no_grad;
  for (const Tensor &x : xs)
    std::cout << x.t().transpose(0, 1).squeeze(0);
}

// Made once for a loop of its own: beside all its steps that is nothing.
torch::Tensor factorize(const torch::Tensor &target) {
  auto taste = torch::randn({400, 512}) * 0.3;
  for (int step = 0; step < 100; ++step)
    taste.add_(target);
  return taste;
}
void ranks(const torch::Tensor &target) {
  for (int rank = 0; rank < 20; ++rank)
    std::cout << factorize(target).sum();
}

// A number that is added to a product: what stands first is no tensor.
void returns(const torch::Tensor &values, const std::vector<double> &rewards) {
  torch::NoGradGuard no_grad;
  for (size_t i = 1; i < rewards.size(); ++i)
    std::cout << rewards[i] + 0.99 * values[i] - values[i - 1];
}

// lt_() keeps the type of what it compares, and & wants one of truth values.
torch::Tensor masks(const std::vector<torch::Tensor> &xs) {
  torch::NoGradGuard no_grad;
  torch::Tensor all = torch::ones({65536}, torch::kBool);
  for (const auto &x : xs)
    all = all & torch::rand({65536}).lt(0.25);
  return all;
}

// What is reduced is small beside what it was made from.
void means(const Tensors &xs) {
  torch::NoGradGuard no_grad;
  for (const Tensor &x : xs) {
    std::cout << x.softmax(2).mean(0).log();
    std::cout << torch::sqrt(x.exp().sum({1, 2}) * 0.5);
    const Tensor square = x.pow(2).mean(-1, /*keepdim=*/true);
    std::cout << x * torch::rsqrt(square + 1e-6);
  }
}

// Made before the work begins: a loop beside it trains, for many steps.
std::vector<torch::Tensor> prepared(torch::nn::Linear &net, torch::optim::SGD &optimizer,
                                    int64_t files, int64_t n) {
  std::vector<torch::Tensor> all;
  for (int64_t i = 0; i < files; ++i)
    all.push_back(torch::sin(torch::rand({n, n}) * 2.0));
  for (const auto &x : all) {
    optimizer.zero_grad();
    net->forward(x).sum().backward();
    optimizer.step();
  }
  return all;
}

// A column for the batch that goes through the network.
void angles(torch::nn::Linear &net, torch::optim::SGD &optimizer, int64_t n) {
  for (int64_t i = 0; i < 1000; ++i) {
    const auto angle = torch::rand({n, 1}) * 6.28;
    optimizer.zero_grad();
    net->forward(torch::cat({angle.cos(), angle.sin()}, 1)).sum().backward();
    optimizer.step();
  }
}

// The first values of what a module has.
struct Table : torch::nn::Module {
  explicit Table(int64_t n) { register_parameter("rows", torch::randn({n, n}) * 0.02); }
};
std::vector<std::shared_ptr<Table>> tables(int64_t count, int64_t n) {
  std::vector<std::shared_ptr<Table>> all;
  for (int64_t i = 0; i < count; ++i)
    all.push_back(std::make_shared<Table>(n));
  return all;
}
