// RUN: %check_torch %s torch-repeated-transfer %t -- -config="{CheckOptions: {torch-repeated-transfer.Strict: true}}"
//
// Conversions of the element type.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

void toFloat(const std::vector<Tensor> &xs) {
  const auto counts = torch::ones({64, 64}, torch::kInt64);
  for (const auto &x : xs)
    std::cout << (x * counts.to(torch::kFloat32)).sum().item<float>() << '\n';
  // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: 'counts' does not change in this loop, but '.to(torch::kFloat32)' converts it in every iteration; convert it once before the loop [torch-repeated-transfer]
}

// What is not said is float.
void toDouble(const std::vector<Tensor> &xs) {
  const auto table = torch::rand({64, 64});
  for (const auto &x : xs) {
    auto exact = table.to(torch::kFloat64);
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'table' does not change in this loop, but '.to(torch::kFloat64)' converts it in every iteration; convert it once before the loop
    std::cout << (x * exact).sum().item<double>() << '\n';
  }
}

void toType(const std::vector<Tensor> &xs) {
  const auto table = torch::arange(4096);
  const auto flags = torch::zeros({4096}, torch::dtype(torch::kBool));
  for (const auto &x : xs) {
    auto y = x * table.toType(torch::kFloat);
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'table' does not change in this loop, but '.toType(torch::kFloat)' converts it in every iteration; convert it once before the loop
    y = y + flags.toType(torch::kFloat);
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'flags' does not change in this loop, but '.toType(torch::kFloat)' converts it in every iteration; convert it once before the loop
    std::cout << y.sum().item<float>() << '\n';
  }
}

// The type is that of another tensor, or a variable.
void toOther(const std::vector<Tensor> &xs, const Tensor &weight,
             torch::Dtype dtype) {
  const auto a = torch::ones({64, 64}, torch::kInt64);
  const auto b = torch::ones({64, 64}, torch::kByte);
  for (const auto &x : xs) {
    auto y = x * a.to(weight.dtype());
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'a' does not change in this loop, but '.to(weight.dtype())' converts it in every iteration; convert it once before the loop
    y = y + b.to(dtype);
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'b' does not change in this loop, but '.to(dtype)' converts it in every iteration; convert it once before the loop
    std::cout << y.sum().item<float>() << '\n';
  }
}

// Nothing says what it is before: Strict tells it (unknown.cpp).
void parameter(Linear net, torch::optim::SGD &opt, const Tensor &images,
               Tensor labels) {
  for (int epoch = 0; epoch < 100; ++epoch) {
    opt.zero_grad();
    auto output = net->forward(images.to(torch::kFloat32));
    // CHECK-MESSAGES: :[[@LINE-1]]:32: warning: 'images' does not change in this loop, but '.to(torch::kFloat32)' converts it in every iteration; convert it once before the loop
    torch::nll_loss(output, labels).backward();
    opt.step();
  }
}

// Moved and converted in one expression: one finding.
void chained(const std::vector<Tensor> &xs, torch::Device device) {
  const auto mask = torch::ones({64, 64}, torch::kByte);
  for (const auto &x : xs) {
    auto m = mask.to(device).to(torch::kFloat32);
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: {{.*}} does not change in this loop, but
    std::cout << (x * m).sum().item<float>() << '\n';
  }
}
