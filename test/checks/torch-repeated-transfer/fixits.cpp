// RUN: %check_torch %s torch-repeated-transfer %t
//
// The declaration moves before the loop.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

void device(Linear net, torch::optim::SGD &opt, Tensor x, Tensor y,
            torch::Device device) {
  const auto weights = torch::rand({10});
  // CHECK-FIXES: {{^}}  auto w = weights.to(device);
  // CHECK-FIXES-NEXT: {{^}}  for (int step = 0; step < 100; ++step) {
  // CHECK-FIXES-NOT: auto w
  for (int step = 0; step < 100; ++step) {
    auto w = weights.to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: 'weights' does not change in this loop
    opt.zero_grad();
    torch::cross_entropy_loss(net->forward(x), y, w).backward();
    opt.step();
  }
}

void conversion(const std::vector<Tensor> &xs) {
  const auto counts = torch::ones({64, 64}, torch::kInt64);
  // CHECK-FIXES: {{^}}  const Tensor real = counts.to(torch::kFloat32);
  // CHECK-FIXES-NEXT: {{^}}  for (const auto &x : xs) {
  // CHECK-FIXES-NOT: const Tensor real
  for (const auto &x : xs) {
    const Tensor real = counts.to(torch::kFloat32);
    // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: 'counts' does not change in this loop
    std::cout << (x * real).sum().item<float>() << '\n';
  }
}

void cuda(const std::vector<Tensor> &xs) {
  const auto mask = torch::rand({64, 64});
  size_t i = 0;
  // CHECK-FIXES: {{^}}  auto m = mask.cuda();
  // CHECK-FIXES-NEXT: {{^}}  while (i < xs.size()) {
  // CHECK-FIXES-NOT: auto m =
  while (i < xs.size()) {
    auto m = mask.cuda();
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: 'mask' does not change in this loop
    std::cout << (xs[i++] * m).sum().item<float>() << '\n';
  }
}

// As far as it does not change: before the inner loop.
void beforeInner(const std::vector<Tensor> &xs, Tensor mask,
                 torch::Device device) {
  for (int epoch = 0; epoch < 10; ++epoch) {
    mask = mask * 0.9;
    // CHECK-FIXES: {{^}}    auto m = mask.to(device);
    // CHECK-FIXES-NEXT: {{^}}    for (const auto &x : xs) {
    for (const auto &x : xs) {
      auto m = mask.to(device);
      // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'mask' does not change in this loop
      std::cout << (x * m).sum().item<float>() << '\n';
    }
  }
}

class Normalizer {
public:
  void run(const std::vector<Tensor> &images, torch::Device device) {
    // CHECK-FIXES: {{^}}    auto mean = mean_.to(device);
    // CHECK-FIXES-NEXT: {{^}}    for (const auto &image : images) {
    for (const auto &image : images) {
      auto mean = mean_.to(device);
      // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: 'mean_' does not change in this loop
      std::cout << (image - mean).sum().item<float>() << '\n';
    }
  }

private:
  Tensor mean_ = torch::rand({3, 1, 1});
};

// Twice instantiated, fixed once.
template <class Net, class Batches>
void train(Net &net, Batches &all, const Tensor &weights) {
  // CHECK-FIXES: {{^}}  auto w = weights.to(torch::kCUDA);
  // CHECK-FIXES-NEXT: {{^}}  for (auto &batch : all) {
  // CHECK-FIXES-NOT: auto w
  for (auto &batch : all) {
    auto w = weights.to(torch::kCUDA);
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: 'weights' does not change in this loop
    torch::cross_entropy_loss(net->forward(batch.data), batch.target, w)
        .backward();
  }
}

void instantiates(Linear net, torch::nn::Sequential seq,
                  std::vector<torch::data::Example<>> batches, Tensor weights) {
  train(net, batches, weights);
  train(seq, batches, weights);
}
// CHECK-FIXES: int last;
int last;
