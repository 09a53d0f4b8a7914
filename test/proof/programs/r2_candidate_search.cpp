#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

namespace {

using torch::Tensor;
namespace nn = torch::nn;

struct Policy : nn::Module {
  Policy(int64_t in, int64_t hidden, int64_t out)
      : first(register_module("first", nn::Linear(in, hidden))),
        drop(register_module("drop", nn::Dropout(0.2))),
        second(register_module("second", nn::Linear(hidden, out))) {}
  Tensor operator()(const Tensor& x) { return second(drop(torch::silu(first(x)))); }
  nn::Linear first;
  nn::Dropout drop;
  nn::Linear second;
};

struct Task {
  Tensor x, y;
};

Task draw_task() {
  auto x = torch::randn({20, 3});
  auto slope = torch::randn({3, 1});
  return {x, torch::tanh(x.matmul(slope)) + 0.3 * torch::rand({1})};
}

double search(Policy& policy, const Task& task, int steps) {
  torch::optim::SGD descent(policy.parameters(), torch::optim::SGDOptions(0.05).momentum(0.8));
  double best = 1e9;
  int passes = 0;
  for (int step = 0; step < steps; ++step) {
    Tensor loss;
    for (int attempt = 0; attempt < 14; ++attempt) {  // AT attempts
      // PLANT innocent torch-missing-no-grad/unused-graph loop=attempts: the attempt that is accepted is trained on
      auto guess = policy(task.x + 0.05 * torch::randn_like(task.x));
      loss = torch::mse_loss(guess, task.y);
      ++passes;
      if (loss.item<double>() < 0.7 * best) break;
    }
    best = std::min(best, loss.item<double>());
    descent.zero_grad();
    loss.backward();
    descent.step();
  }
  std::printf("passes %d for %d steps\n", passes, steps);
  return best;
}

double nudge(Policy& policy, const Task& task) {
  // PLANT true torch-optimizer-in-loop/made-anew loop=nudges: the moments are lost after a single step
  torch::optim::Adam adam(policy.parameters(), torch::optim::AdamOptions(5e-3).weight_decay(1e-4));
  auto loss = torch::mse_loss(policy(task.x), task.y);
  adam.zero_grad();
  loss.backward();
  adam.step();
  return loss.item<double>();
}

std::vector<Tensor> snapshot(const Policy& policy) {
  std::vector<Tensor> copies;
  for (const auto& p : policy.parameters()) copies.push_back(p.detach().clone());
  return copies;
}

std::vector<Tensor> across_tasks(Policy& learner, int tasks) {
  auto start = snapshot(learner);
  std::vector<Tensor> results;
  for (int n = 0; n < tasks; ++n) {  // AT tasks
    auto task = draw_task();
    auto parameters = learner.parameters();
    {
      torch::NoGradGuard guard;
      for (size_t i = 0; i < parameters.size(); ++i) parameters[i].copy_(start[i]);
    }
    // PLANT innocent torch-optimizer-in-loop/made-anew loop=tasks: each task is a training of its own from the common start
    auto inner = std::make_unique<torch::optim::Adam>(parameters, torch::optim::AdamOptions(0.02));
    Tensor loss;
    for (int k = 0; k < 6; ++k) {
      loss = torch::mse_loss(learner(task.x), task.y);
      inner->zero_grad();
      loss.backward();
      inner->step();
    }
    auto reached = snapshot(learner);
    for (size_t i = 0; i < start.size(); ++i) start[i].lerp_(reached[i], 0.1);
    results.push_back(loss.detach());
  }
  return results;
}

double average(const std::vector<Tensor>& results) {
  double sum = 0;
  for (size_t i = 0; i < results.size(); ++i) {  // AT results
    // PLANT innocent torch-element-access-in-loop/reads loop=results: each element of the list is a tensor of its own
    sum += results[i].item<double>();
  }
  return sum / static_cast<double>(results.size());
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(0);

  Policy policy(3, 16, 1);
  auto task = draw_task();
  std::printf("search %.5f\n", search(policy, task, 48));

  Policy other(3, 16, 1);
  double first = 0, last = 0;
  for (int i = 0; i < 60; ++i) {  // AT nudges
    last = nudge(other, task);
    if (i == 0) first = last;
  }
  std::printf("nudged from %.5f to %.5f\n", first, last);

  Policy learner(3, 16, 1);
  std::printf("tasks %.5f\n", average(across_tasks(learner, 90)));
  return 0;
}
