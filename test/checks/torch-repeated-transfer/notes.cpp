// RUN: %check_torch %s torch-repeated-transfer %t -- -config="{CheckOptions: {torch-repeated-transfer.Strict: true}}"
//
// The note leads to the innermost loop around the transfer.

#include <torch/torch.h>

using torch::Tensor;

void inLoop(const std::vector<Tensor> &xs, const Tensor &mask,
            torch::Device device) {
  for (const auto &x : xs)
    std::cout << (x * mask.to(device)).sum().item<float>() << '\n';
}
// CHECK-NOTES: :[[@LINE-2]]:23: warning: 'mask' does not change in this loop, but '.to(device)' copies it in every iteration; transfer it once before the loop
// CHECK-NOTES: :[[@LINE-4]]:3: note: in every iteration of this loop

void inInnerLoop(const std::vector<Tensor> &xs, const Tensor &counts) {
  for (int epoch = 0; epoch < 10; ++epoch) {
    for (const auto &x : xs) {
      auto real = counts.to(torch::kFloat64);
      std::cout << (x * real).sum().item<double>() << '\n';
    }
  }
}
// CHECK-NOTES: :[[@LINE-5]]:19: warning: 'counts' does not change in this loop, but '.to(torch::kFloat64)' converts it in every iteration; convert it once before the loop
// CHECK-NOTES: :[[@LINE-7]]:5: note: in every iteration of this loop

static float masked(const Tensor &x, const Tensor &mask) {
  return (x * mask.cuda()).sum().item<float>();
}
// CHECK-NOTES: :[[@LINE-2]]:15: warning: 'mask' does not change in this loop, but '.cuda()' copies it in every iteration; transfer it once before the loop
// CHECK-NOTES: :[[@LINE+6]]:3: note: called in every iteration of this loop

void calls(const std::vector<Tensor> &xs, const Tensor &mask) {
  int i = 0;
  std::cout << xs.size() << '\n';

  while (i < 10)
    std::cout << masked(xs[i++], mask) << '\n';
}

void samples(const std::vector<Tensor> &all, torch::Device device) {
  std::vector<Tensor> onDevice;
  for (const auto &sample : all)
    onDevice.push_back(sample.to(device));
  std::cout << torch::stack(onDevice).mean().item<float>() << '\n';
}
// CHECK-NOTES: :[[@LINE-3]]:24: warning: each sample is copied by itself by '.to(device)'; put the batch together first and transfer it once
// CHECK-NOTES: :[[@LINE-5]]:3: note: in every iteration of this loop
