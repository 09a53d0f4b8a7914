// RUN: %check_torch %s torch-repeated-transfer %t

// A job that comes out of a queue is another one in each pass of the worker's loop, with
// what was bound to it.
#include <functional>
#include <queue>
#include <torch/torch.h>

struct Pool {
  std::queue<std::function<void()>> jobs;
  void start(std::function<void()> job) { jobs.push(job); }
  void work() {
    while (!jobs.empty()) {
      std::function<void()> job = jobs.front();
      jobs.pop();
      job();
    }
  }
  void workAtOnce() {
    while (!jobs.empty()) {
      jobs.front()();
      jobs.pop();
    }
  }
};

struct Learner {
  torch::nn::Linear net{nullptr};
  torch::Device device{torch::kCUDA};
  Pool *pool;
  void learn(const torch::Tensor &data, int64_t size) {
    auto run = [this, data](int64_t start, int64_t stop) {
      auto part = data.slice(0, start, stop).to(device);
      net->forward(part).sum().backward();
    };
    for (int64_t i = 0; i < size; i += 16)
      pool->start(std::bind(run, i, i + 16));
    for (int64_t i = 0; i < size; i += 16)
      pool->start([this, data, i] {
        net->forward(data.slice(0, i, i + 16).to(device)).sum().backward();
      });
  }
};

// The same one is.
void repeat(torch::nn::Linear net, torch::Tensor data, int n) {
  std::function<void()> job = [&] {
    net->forward(data.to(torch::kCUDA)).sum().backward();
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: {{.*}} [torch-repeated-transfer]
  };
  for (int i = 0; i < n; ++i)
    job();
}
