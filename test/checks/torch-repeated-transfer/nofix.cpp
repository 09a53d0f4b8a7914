// RUN: %check_torch -still-warns %s torch-repeated-transfer %t -- -config="{CheckOptions: {torch-repeated-transfer.Strict: true}}"
//
// Findings without a fix, and some where a careless one would not compile. The
// first function shows that --fix did run.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

void plain(const std::vector<Tensor> &xs, const Tensor &mask,
           torch::Device device) {
  // CHECK-FIXES: {{^}}  auto m = mask.to(device);
  // CHECK-FIXES-NEXT: {{^}}  for (const auto &x : xs) {
  for (const auto &x : xs) {
    auto m = mask.to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: 'mask' does not change in this loop
    std::cout << (x * m).sum().item<float>() << '\n';
  }
}

// It is not a declaration.
void asArgument(Linear net, const std::vector<Tensor> &xs, const Tensor &mask,
                torch::Device device) {
  for (const auto &x : xs)
    std::cout << net->forward(x + mask.to(device)).sum().item<float>() << '\n';
  // CHECK-MESSAGES: :[[@LINE-1]]:35: warning: 'mask' does not change in this loop
  // CHECK-FIXES: {{^}}    std::cout << net->forward(x + mask.to(device)).sum()
}

// The copy is written to, so that each iteration needs a fresh one.
void written(const std::vector<Tensor> &xs, torch::Device device) {
  const auto start = torch::rand({64, 64});
  for (const auto &x : xs) {
    auto sum = start.to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'start' does not change in this loop
    // CHECK-FIXES: {{^}}    auto sum = start.to(device);
    sum += x;
    std::cout << sum.max().item<float>() << '\n';
  }
}

// The loop is in the caller.
static float masked(const Tensor &x, const Tensor &mask) {
  auto m = mask.to(torch::kCUDA);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'mask' does not change in this loop
  // CHECK-FIXES: {{^}}  auto m = mask.to(torch::kCUDA);
  return (x * m).sum().item<float>();
}

void callsHelper(const std::vector<Tensor> &xs, const Tensor &mask) {
  for (const auto &x : xs)
    std::cout << masked(x, mask) << '\n';
}

// The device is a variable of the loop.
void usesLocal(const std::vector<Tensor> &xs, const Tensor &mask) {
  for (const auto &x : xs) {
    const torch::Device device(torch::kCUDA, 0);
    auto m = mask.to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: 'mask' does not change in this loop
    // CHECK-FIXES: {{^}}    auto m = mask.to(device);
    std::cout << (x * m).sum().item<float>() << '\n';
  }
}

// Samples are for the developer to put together.
void samples(const std::vector<Tensor> &all, torch::Device device) {
  std::vector<Tensor> onDevice;
  for (const auto &sample : all) {
    auto moved = sample.to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: each sample is copied by itself
    // CHECK-FIXES: {{^}}    auto moved = sample.to(device);
    onDevice.push_back(moved);
  }
  std::cout << torch::stack(onDevice).mean().item<float>() << '\n';
}

// ----- with or without a fix, the file must compile -----

// The loop is the only statement of a branch.
void withoutBraces(const std::vector<Tensor> &xs, const Tensor &mask,
                   torch::Device device, bool wanted) {
  if (wanted)
    for (const auto &x : xs) {
      auto m = mask.to(device);
      // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'mask' does not change in this loop
      std::cout << (x * m).sum().item<float>() << '\n';
    }
  else
    std::cout << "nothing\n";
}

// Both would become variables of the function.
void sameName(const std::vector<Tensor> &xs, const Tensor &mask,
              torch::Device device) {
  for (const auto &x : xs) {
    auto m = mask.to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: 'mask' does not change in this loop
    std::cout << (x * m).sum().item<float>() << '\n';
  }
  for (const auto &x : xs) {
    auto m = mask.to(torch::kFloat64);
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: 'mask' does not change in this loop
    std::cout << (x * m).sum().item<double>() << '\n';
  }
}

// The inner variable hides a parameter that is read after the loop.
void shadows(const std::vector<Tensor> &xs, const Tensor &mask,
             const Tensor &other, torch::Device device) {
  for (const auto &x : xs) {
    auto mask = other.to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'other' does not change in this loop
    std::cout << (x * mask).sum().item<float>() << '\n';
  }
  std::cout << mask.sum().item<float>() << '\n';
}

void declaredTogether(const std::vector<Tensor> &xs, const Tensor &mask,
                      torch::Device device) {
  for (const auto &x : xs) {
    Tensor m = mask.to(device), twice = x * 2;
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'mask' does not change in this loop
    std::cout << (twice * m).sum().item<float>() << '\n';
  }
}

void behindLabel(const std::vector<Tensor> &xs, const Tensor &mask, int kind,
                 torch::Device device) {
  switch (kind) {
  case 1:
    for (const auto &x : xs) {
      auto m = mask.to(device);
      // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'mask' does not change in this loop
      std::cout << (x * m).sum().item<float>() << '\n';
    }
    break;
  default:
    std::cout << "nothing\n";
  }
}

#define ON_DEVICE(name, tensor) auto name = (tensor).to(device)

void inMacro(const std::vector<Tensor> &xs, const Tensor &mask,
             torch::Device device) {
  for (const auto &x : xs) {
    ON_DEVICE(m, mask);
    // CHECK-MESSAGES: :[[@LINE-1]]:{{5|18}}: warning: 'mask' does not change in this loop
    // CHECK-FIXES: {{^}}    ON_DEVICE(m, mask);
    std::cout << (x * m).sum().item<float>() << '\n';
  }
}
// CHECK-FIXES: int last;
int last;
