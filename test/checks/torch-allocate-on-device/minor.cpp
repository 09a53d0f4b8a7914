// RUN: %check_torch %s torch-allocate-on-device %t
// RUN: %check_torch %s torch-allocate-on-device %t -check-prefix=MINOR -- -config="{CheckOptions: {torch-allocate-on-device.Minor: true}}"
//
// What is known to be small is told with Minor only.

#include <torch/torch.h>

using torch::Tensor;

void train(torch::nn::Linear net, torch::optim::SGD &opt, const Tensor &x,
           torch::Device device, int64_t n) {
  for (int i = 0; i < 1000; ++i) {
    Tensor loss = torch::zeros({1}).to(device);
    // MINOR-MESSAGES: :[[@LINE-1]]:19: warning: 'torch::zeros' makes this tensor on the CPU
    // MINOR-FIXES: Tensor loss = torch::zeros({1}, device);
    Tensor noise = torch::zeros({n, 64}).to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: 'torch::zeros' makes this tensor on the CPU
    // CHECK-FIXES: Tensor noise = torch::zeros({n, 64}, device);
    // MINOR-MESSAGES: :[[@LINE-3]]:20: warning: 'torch::zeros' makes this tensor on the CPU
    // MINOR-FIXES: Tensor noise = torch::zeros({n, 64}, device);
    opt.zero_grad();
    (loss + net(x + noise).sum()).backward();
    opt.step();
  }
}

// The loop over the labels waits for each of them: one wait more or less.
Tensor targets(const Tensor &labels, const Tensor &grid, torch::Device device) {
  Tensor mask = torch::zeros({grid.size(0), 64}).to(device);
  // MINOR-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::zeros' makes this tensor on the CPU
  for (int64_t i = 0; i < labels.size(0); ++i) {
    const int64_t row = labels[i].item<int64_t>();
    mask = mask + grid[row];
  }
  // Large enough to be seen beside them.
  return mask + torch::ones({4096, 64}).to(device).sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::ones' makes this tensor on the CPU
  // MINOR-MESSAGES: :[[@LINE-2]]:17: warning: 'torch::ones' makes this tensor on the CPU
}

// This one only enqueues.
Tensor weights(const Tensor &labels, const Tensor &grid, torch::Device device) {
  Tensor sum = torch::zeros({grid.size(0), 64}).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'torch::zeros' makes this tensor on the CPU
  // MINOR-MESSAGES: :[[@LINE-2]]:16: warning: 'torch::zeros' makes this tensor on the CPU
  for (int64_t i = 0; i < labels.size(0); ++i)
    sum = sum + grid[i];
  return sum;
}

// What the loop waits for lies on the host.
Tensor shares(const std::vector<float> &numbers, const Tensor &grid,
              torch::Device device) {
  Tensor sum = torch::zeros({grid.size(0), 64}).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'torch::zeros' makes this tensor on the CPU
  // MINOR-MESSAGES: :[[@LINE-2]]:16: warning: 'torch::zeros' makes this tensor on the CPU
  const Tensor host = torch::tensor(numbers);
  double most = 0;
  for (int64_t i = 0; i < host.size(0); ++i)
    most += host.select(0, i).item<double>();
  return sum / most;
}

// The loss that is read once in each iteration is one wait, this is another.
void fit(torch::nn::Linear net, torch::optim::SGD &opt, const Tensor &x,
         const Tensor &grid, torch::Device device, int64_t n) {
  double sum = 0;
  for (int i = 0; i < 1000; ++i) {
    Tensor noise = torch::zeros({n, 64}).to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: 'torch::zeros' makes this tensor on the CPU
    // MINOR-MESSAGES: :[[@LINE-2]]:20: warning: 'torch::zeros' makes this tensor on the CPU
    opt.zero_grad();
    Tensor y = net(x + noise);
    Tensor loss = (y - weights(y, grid, device) - shares({1, 2}, grid, device)).pow(2).mean();
    loss.backward();
    opt.step();
    sum += loss.item<double>();
  }
}

// targets() waits for each label.
void detect(torch::nn::Linear net, torch::optim::SGD &opt, const Tensor &x,
            const Tensor &grid, torch::Device device, int64_t n) {
  for (int i = 0; i < 1000; ++i) {
    Tensor noise = torch::zeros({n, 64}).to(device);
    // MINOR-MESSAGES: :[[@LINE-1]]:20: warning: 'torch::zeros' makes this tensor on the CPU
    opt.zero_grad();
    Tensor y = net(x + noise);
    (y - targets(y, grid, device)).pow(2).mean().backward();
    opt.step();
  }
}
