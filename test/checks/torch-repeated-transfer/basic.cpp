// RUN: %check_torch %s torch-repeated-transfer %t
//
// Every kind of loop, and every way to say where to.

#include <torch/torch.h>

#include <algorithm>

using torch::Tensor;
using torch::nn::Linear;

// ----- loops -----

void classWeights(Linear net, torch::optim::SGD &opt, Tensor x, Tensor y,
                  torch::Device device) {
  auto weights = torch::ones({10});
  for (int step = 0; step < 100; ++step) {
    auto w = weights.to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: 'weights' does not change in this loop, but '.to(device)' copies it in every iteration; transfer it once before the loop [torch-repeated-transfer]
    opt.zero_grad();
    torch::cross_entropy_loss(net->forward(x), y, w).backward();
    opt.step();
  }
}

void asArgument(Linear net, const std::vector<Tensor> &xs, const Tensor &mask,
                torch::Device device) {
  for (const auto &x : xs)
    std::cout << net->forward(x + mask.to(device)).sum().item<float>() << '\n';
  // CHECK-MESSAGES: :[[@LINE-1]]:35: warning: 'mask' does not change in this loop, but '.to(device)' copies it in every iteration; transfer it once before the loop
}

void inLoss(Linear net, torch::optim::SGD &opt, Tensor x, Tensor y,
            Tensor weights, torch::Device device) {
  size_t step = 0;
  while (step++ < 100) {
    opt.zero_grad();
    auto loss = torch::nn::functional::cross_entropy(
        net->forward(x), y,
        torch::nn::functional::CrossEntropyFuncOptions().weight(
            weights.to(device)));
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'weights' does not change in this loop, but '.to(device)' copies it in every iteration; transfer it once before the loop
    loss.backward();
    opt.step();
  }
}

void doLoop(Tensor x, torch::Device device) {
  const auto scale = torch::full({64, 64}, 0.5);
  do {
    x = x * scale.to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'scale' does not change in this loop, but '.to(device)' copies it in every iteration; transfer it once before the loop
  } while (x.max().item<float>() > 1);
}

void gotoLoop(Tensor x, torch::Device device) {
  const auto scale = torch::full({64, 64}, 0.5);
  int step = 0;
again:
  x = x * scale.to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'scale' does not change in this loop, but '.to(device)' copies it in every iteration; transfer it once before the loop
  if (++step < 100)
    goto again;
  std::cout << x.sum().item<float>() << '\n';
}

void forEach(const std::vector<Tensor> &xs, const Tensor &mask,
             torch::Device device) {
  std::for_each(xs.begin(), xs.end(), [&](const Tensor &x) {
    std::cout << (x * mask.to(device)).sum().item<float>() << '\n';
    // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: 'mask' does not change in this loop, but '.to(device)' copies it in every iteration; transfer it once before the loop
  });
}

// One finding in two loops.
void nested(const std::vector<Tensor> &xs, const Tensor &mask,
            torch::Device device) {
  for (int epoch = 0; epoch < 10; ++epoch) {
    for (const auto &x : xs) {
      auto m = mask.to(device);
      // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'mask' does not change in this loop, but '.to(device)' copies it in every iteration; transfer it once before the loop
      std::cout << (x * m).sum().item<float>() << '\n';
    }
  }
}

// Changed by the outer loop only: once before the inner one.
void changedByOuter(const std::vector<Tensor> &xs, Tensor mask,
                    torch::Device device) {
  for (int epoch = 0; epoch < 10; ++epoch) {
    mask = mask * 0.9;
    for (const auto &x : xs) {
      auto m = mask.to(device);
      // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'mask' does not change in this loop, but '.to(device)' copies it in every iteration; transfer it once before the loop
      std::cout << (x * m).sum().item<float>() << '\n';
    }
  }
}

// ----- where to -----

void toCuda(const std::vector<Tensor> &xs) {
  const auto a = torch::rand({64, 64}), b = torch::rand({64, 64}),
             c = torch::rand({64, 64}), d = torch::rand({64, 64});
  for (const auto &x : xs) {
    auto y = x * a.cuda();
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'a' does not change in this loop, but '.cuda()' copies it in every iteration; transfer it once before the loop
    y = y + b.to(torch::kCUDA);
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'b' does not change in this loop, but '.to(torch::kCUDA)' copies it in every iteration; transfer it once before the loop
    y = y + c.to(torch::Device(torch::kCUDA, 0));
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'c' does not change in this loop, but '.to(torch::Device(torch::kCUDA, 0))' copies it in every iteration; transfer it once before the loop
    y = y + d.to("cuda:0");
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'd' does not change in this loop, but '.to("cuda:0")' copies it in every iteration; transfer it once before the loop
    std::cout << y.sum().item<float>() << '\n';
  }
}

void toHost(const std::vector<Tensor> &xs) {
  const auto table = torch::rand({64, 64}, torch::kCUDA);
  const auto other = torch::rand({64, 64}, torch::device(torch::kCUDA));
  for (const auto &x : xs) {
    std::cout << (x * table.cpu()).sum().item<float>() << '\n';
    // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: 'table' does not change in this loop, but '.cpu()' copies it in every iteration; transfer it once before the loop
    std::cout << (x * other.to(torch::kCPU)).sum().item<float>() << '\n';
    // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: 'other' does not change in this loop, but '.to(torch::kCPU)' copies it in every iteration; transfer it once before the loop
  }
}

// Where another tensor is, that does not change either.
void toOther(const std::vector<Tensor> &xs, const Tensor &reference) {
  const auto a = torch::rand({64, 64}), b = torch::rand({64, 64}),
             c = torch::rand({64, 64});
  for (const auto &x : xs) {
    auto y = x * a.to(reference.device());
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'a' does not change in this loop, but '.to(reference.device())' copies it in every iteration; transfer it once before the loop
    y = y + b.to(reference);
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'b' does not change in this loop, but '.to(reference)' copies it in every iteration; transfer it once before the loop
    y = y + c.to(reference.options());
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'c' does not change in this loop, but '.to(reference.options())' copies it in every iteration; transfer it once before the loop
    std::cout << y.sum().item<float>() << '\n';
  }
}

void byOptions(const std::vector<Tensor> &xs, torch::Device device) {
  const auto a = torch::rand({64, 64}), b = torch::rand({64, 64}),
             c = torch::rand({64, 64});
  const auto options = torch::dtype(torch::kFloat64).device(device);
  for (const auto &x : xs) {
    auto y = x * a.to(options);
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'a' does not change in this loop, but '.to(options)' copies it in every iteration; transfer it once before the loop
    y = y + b.to(device, torch::kFloat64);
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'b' does not change in this loop, but '.to(device, torch::kFloat64)' copies it in every iteration; transfer it once before the loop
    y = y + c.to(device, /*non_blocking=*/true);
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'c' does not change in this loop, but '.to(device, {{.*}}true)' copies it in every iteration; transfer it once before the loop
    std::cout << y.sum().item<double>() << '\n';
  }
}

// The device that programs choose at their start.
void chosenDevice(const std::vector<Tensor> &xs) {
  torch::Device device(torch::kCPU);
  if (torch::cuda::is_available())
    device = torch::Device(torch::kCUDA);
  const auto mask = torch::full({64, 64}, 0.5);
  for (const auto &x : xs)
    std::cout << (x * mask.to(device)).sum().item<float>() << '\n';
  // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: 'mask' does not change in this loop, but '.to(device)' copies it in every iteration; transfer it once before the loop
}

// It has no name.
void unnamed(const std::vector<Tensor> &xs, torch::Device device) {
  const std::vector<Tensor> tables{torch::rand({64, 64}), torch::rand({64})};
  for (const auto &x : xs)
    std::cout << (x * tables.back().to(device)).sum().item<float>() << '\n';
  // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: {{this tensor|'.*'}} does not change in this loop, but '.to(device)' copies it in every iteration; transfer it once before the loop
}
