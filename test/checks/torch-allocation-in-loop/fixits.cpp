// RUN: %check_torch %s torch-allocation-in-loop %t -- -config="{CheckOptions: {torch-allocation-in-loop.Strict: true}}"
//
// The declaration moves before the loop; scratch is refilled in its place.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

void constant(Linear net, torch::optim::SGD &opt, Tensor x) {
  // CHECK-FIXES: {{^}}  auto labels = torch::ones({6400, 1});
  // CHECK-FIXES-NEXT: {{^}}  for (int step = 0; step < 10; ++step) {
  // CHECK-FIXES-NOT: auto labels
  for (int step = 0; step < 10; ++step) {
    auto labels = torch::ones({6400, 1});
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: 'torch::ones' makes the same tensor in every iteration; create 'labels' once before the loop
    opt.zero_grad();
    torch::mse_loss(net->forward(x), labels).backward();
    opt.step();
  }
}

void zeros(const std::vector<Tensor> &xs) {
  // CHECK-FIXES: {{^}}  Tensor counts = torch::zeros({128, 64}, torch::kInt64);
  // CHECK-FIXES-NEXT: {{^}}  for (const auto &x : xs) {
  for (const auto &x : xs) {
    Tensor counts = torch::zeros({128, 64}, torch::kInt64);
    // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: 'torch::zeros' allocates a tensor of the same shape
    // CHECK-FIXES-NEXT: {{^}}    counts.zero_();
    counts += x;
    std::cout << counts.max().item<int64_t>() << '\n';
  }
}

void ones(const std::vector<Tensor> &xs, int64_t n) {
  // CHECK-FIXES: {{^}}  auto product = torch::ones({n, n});
  // CHECK-FIXES-NEXT: {{^}}  for (const auto &x : xs) {
  for (const auto &x : xs) {
    auto product = torch::ones({n, n});
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: 'torch::ones' allocates a tensor of the same shape
    // CHECK-FIXES-NEXT: {{^}}    product.fill_(1);
    product *= x;
    std::cout << product.max().item<float>() << '\n';
  }
}

void full(const std::vector<Tensor> &xs, double value) {
  // CHECK-FIXES: {{^}}  auto lowest = torch::full({128, 64}, value / 2);
  // CHECK-FIXES-NEXT: {{^}}  for (const auto &x : xs) {
  for (const auto &x : xs) {
    auto lowest = torch::full({128, 64}, value / 2);
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: 'torch::full' allocates a tensor of the same shape
    // CHECK-FIXES-NEXT: {{^}}    lowest.fill_(value / 2);
    lowest.sub_(x);
    std::cout << lowest.min().item<float>() << '\n';
  }
}

// Nothing has to be refilled.
void empty(const std::vector<Tensor> &xs) {
  // CHECK-FIXES: {{^}}  Tensor sum = torch::empty({128, 64});
  // CHECK-FIXES-NEXT: {{^}}  for (const auto &x : xs) {
  // CHECK-FIXES-NOT: sum{{ =|\.zero_}}
  for (const auto &x : xs) {
    Tensor sum = torch::empty({128, 64});
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'torch::empty' allocates a tensor of the same shape
    torch::add_out(sum, x, x);
    std::cout << sum.max().item<float>() << '\n';
  }
}

// The transfer moves along.
void onDevice(const std::vector<Tensor> &xs, torch::Device device) {
  // CHECK-FIXES: {{^}}  auto real = torch::ones({10000, 1}).to(device);
  // CHECK-FIXES-NEXT: {{^}}  for (const auto &x : xs) {
  for (const auto &x : xs) {
    auto real = torch::ones({10000, 1}).to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::ones' makes the same tensor
    std::cout << torch::mse_loss(x, real).item<float>() << '\n';
  }
}

// As far as the shape allows: before the inner loop.
void beforeInner(const std::vector<Tensor> &xs) {
  for (int64_t n = 64; n < 128; ++n) {
    // CHECK-FIXES: {{^}}    auto weights = torch::ones({n, n});
    // CHECK-FIXES-NEXT: {{^}}    for (const auto &x : xs) {
    for (const auto &x : xs) {
      auto weights = torch::ones({n, n});
      // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: 'torch::ones' makes the same tensor
      std::cout << torch::matmul(x, weights).sum().item<float>() << '\n';
    }
  }
}

// Two in one loop.
void two(const std::vector<Tensor> &xs) {
  // CHECK-FIXES-DAG: {{^}}  auto sum = torch::zeros({128, 64});
  // CHECK-FIXES-DAG: {{^}}  auto mask = torch::full({128, 64}, 0.5);
  // CHECK-FIXES: {{^}}  while (running < xs.size()) {
  size_t running = 0;
  while (running < xs.size()) {
    auto sum = torch::zeros({128, 64});
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'torch::zeros' allocates a tensor of the same shape
    // CHECK-FIXES: {{^}}    sum.zero_();
    auto mask = torch::full({128, 64}, 0.5);
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::full' makes the same tensor
    sum += xs[running++] * mask;
    std::cout << sum.max().item<float>() << '\n';
  }
}

// Twice instantiated, fixed once.
template <class Net, class Batches> void inTemplate(Net &net, Batches &all) {
  // CHECK-FIXES: {{^}}  auto target = torch::zeros({6400, 1});
  // CHECK-FIXES-NEXT: {{^}}  for (auto &batch : all) {
  // CHECK-FIXES-NOT: auto target
  for (auto &batch : all) {
    auto target = torch::zeros({6400, 1});
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: 'torch::zeros' makes the same tensor
    torch::mse_loss(net->forward(batch.data), target).backward();
  }
}

void instantiates(Linear net, torch::nn::Sequential seq,
                  std::vector<torch::data::Example<>> batches) {
  inTemplate(net, batches);
  inTemplate(seq, batches);
}
// CHECK-FIXES: int last;
int last;
