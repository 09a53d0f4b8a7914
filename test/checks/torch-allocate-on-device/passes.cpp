// RUN: %check_torch %s torch-allocate-on-device %t -- -config="{CheckOptions: {torch-allocate-on-device.Minor: true}}"
//
// Beside the passes of a network that nobody trains, a copy of what is not
// known to be large is no matter. Strict tells it: strict.cpp.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

void use(const Tensor &x);

void answers(Linear net, const std::vector<Tensor> &xs, torch::Device device) {
  torch::NoGradGuard no_grad;
  for (const auto &x : xs) {
    auto h = torch::zeros({x.size(0), 64}).to(device);
    use(net->forward(x + h));
  }
}

void frames(Linear net, const std::vector<Tensor> &xs, torch::Device device) {
  torch::NoGradGuard no_grad;
  for (const auto &x : xs) {
    auto frame = torch::zeros({3, 720, 1280}).to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'torch::zeros' makes this tensor on the CPU
    // CHECK-FIXES: auto frame = torch::zeros({3, 720, 1280}, device);
    use(net->forward(frame + x));
  }
}

void computes(const std::vector<Tensor> &xs, torch::Device device) {
  for (const auto &x : xs) {
    auto h = torch::zeros({x.size(0), 64}).to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: 'torch::zeros' makes this tensor on the CPU
    // CHECK-FIXES: auto h = torch::zeros({x.size(0), 64}, device);
    use(x + h);
  }
}

// A few bytes, once in each iteration; where a loop trains, the copy stops the host.
void origin(const std::vector<Tensor> &xs, torch::Device device) {
  for (const auto &x : xs) {
    auto o = torch::zeros({3, 4}).to(device);
    use(x + o);
  }
}
void fewTrained(Linear net, torch::optim::SGD &optimizer,
                const std::vector<Tensor> &xs, torch::Device device) {
  for (const auto &x : xs) {
    auto margin = torch::ones({1}).to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: 'torch::ones' makes this tensor on the CPU
    // CHECK-FIXES: auto margin = torch::ones({1}, device);
    optimizer.zero_grad();
    (net->forward(x) * margin).sum().backward();
    optimizer.step();
  }
}

void trains(Linear net, torch::optim::SGD &optimizer,
            const std::vector<Tensor> &xs, torch::Device device) {
  for (const auto &x : xs) {
    auto real = torch::ones({x.size(0)}).to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::ones' makes this tensor on the CPU
    // CHECK-FIXES: auto real = torch::ones({x.size(0)}, device);
    optimizer.zero_grad();
    torch::binary_cross_entropy(net->forward(x), real).backward();
    optimizer.step();
  }
}
