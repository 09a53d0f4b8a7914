// RUN: %check_torch %s torch-repeated-transfer %t
//
// Functions, lambdas and templates that are called in a loop.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

static float masked(const Tensor &x, const Tensor &mask, torch::Device device) {
  return (x * mask.to(device)).sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: 'mask' does not change in this loop, but '.to(device)' copies it in every iteration; transfer it once before the loop
}

void callsHelper(const std::vector<Tensor> &xs, const Tensor &mask,
                 torch::Device device) {
  for (const auto &x : xs)
    std::cout << masked(x, mask, device) << '\n';
}

// Two levels deep, by value.
static Tensor apply(Tensor x, Tensor table) {
  auto t = table.to(torch::kCUDA);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'table' does not change in this loop, but '.to(torch::kCUDA)' copies it in every iteration; transfer it once before the loop
  return x * t;
}

static float score(Tensor x, Tensor table) {
  return apply(x * 2, table).sum().item<float>();
}

void twoLevels(const std::vector<Tensor> &xs) {
  const auto table = torch::rand({64, 64});
  for (const auto &x : xs)
    std::cout << score(x, table) << '\n';
}

void lambda(Linear net, const std::vector<Tensor> &xs, torch::Device device) {
  const auto weights = torch::rand({10});
  auto loss = [&](const Tensor &x) {
    return (net->forward(x) * weights.to(device)).mean();
    // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: 'weights' does not change in this loop, but '.to(device)' copies it in every iteration; transfer it once before the loop
  };
  for (const auto &x : xs)
    loss(x).backward();
}

// The optimizer calls it again and again, in a loop of the program.
void closure(Linear net, torch::optim::LBFGS &opt, Tensor x,
             torch::Device device) {
  const auto target = torch::rand({64, 1});
  for (int step = 0; step < 100; ++step) {
    opt.step([&] {
      opt.zero_grad();
      auto loss = torch::mse_loss(net->forward(x), target.to(device));
      // CHECK-MESSAGES: :[[@LINE-1]]:52: warning: 'target' does not change in this loop, but '.to(device)' copies it in every iteration; transfer it once before the loop
      loss.backward();
      return loss;
    });
  }
}

template <class Net, class Loader>
void train(Net &net, Loader &loader, torch::optim::Optimizer &opt,
           const Tensor &classWeights, torch::Device device) {
  for (auto &batch : loader) {
    opt.zero_grad();
    auto output = net->forward(batch.data.to(device));
    auto loss = torch::cross_entropy_loss(output, batch.target.to(device),
                                          classWeights.to(device));
    // CHECK-MESSAGES: :[[@LINE-1]]:43: warning: 'classWeights' does not change in this loop, but '.to(device)' copies it in every iteration; transfer it once before the loop
    loss.backward();
    opt.step();
  }
}

void instantiates(Linear net, torch::nn::Sequential seq,
                  std::vector<torch::data::Example<>> batches,
                  torch::optim::SGD &opt, Tensor weights) {
  train(net, batches, opt, weights, torch::kCUDA);
  train(seq, batches, opt, weights, torch::kCUDA); // Reported once.
}

// Through a reference and through auto.
void aliases(const std::vector<Tensor> &xs, Tensor table, torch::Device device) {
  const Tensor &view = table;
  auto same = table;
  for (const auto &x : xs) {
    auto a = view.to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: '{{view|table}}' does not change in this loop, but '.to(device)' copies it in every iteration; transfer it once before the loop
    auto b = same.to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: '{{same|table}}' does not change in this loop, but '.to(device)' copies it in every iteration; transfer it once before the loop
    std::cout << (x * a + b).sum().item<float>() << '\n';
  }
}

// A part of it does not change either.
void parts(const std::vector<Tensor> &xs, const Tensor &table,
           torch::Device device) {
  for (const auto &x : xs) {
    auto row = table[0].to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: {{.*}} does not change in this loop, but '.to(device)' copies it in every iteration; transfer it once before the loop
    auto head = table.narrow(0, 0, 8).to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: {{.*}} does not change in this loop, but '.to(device)' copies it in every iteration; transfer it once before the loop
    std::cout << (x * row).sum() << head.sum() << '\n';
  }
}

// It is read in the loop, and others are written.
void readOnly(const std::vector<Tensor> &xs, Tensor table, torch::Device device) {
  Tensor sum = torch::zeros({64, 64}, device);
  for (const auto &x : xs) {
    sum += x;
    sum.mul_(table.to(device));
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: 'table' does not change in this loop, but '.to(device)' copies it in every iteration; transfer it once before the loop
    std::cout << table.sum().item<float>() << table.size(0) << '\n';
  }
  table.zero_(); // After the loop.
}
