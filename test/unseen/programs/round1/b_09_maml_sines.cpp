#include <torch/torch.h>
#include <iostream>
#include <vector>

// Few-shot sine regression: MAML with second order gradients through a functional
// network, and an evaluation that adapts with a plain Adam.

using Params = std::vector<torch::Tensor>;

struct SineTask {
  double amplitude, phase;
  std::pair<torch::Tensor, torch::Tensor> sample(int64_t n) const {
    auto x = torch::rand({n, 1}) * 10 - 5;
    return {x, amplitude * torch::sin(x + phase)};
  }
  static SineTask draw() {
    auto r = torch::rand({2});
    return {0.1 + 4.9 * r[0].item<double>(), 3.14 * r[1].item<double>()};
  }
};

torch::Tensor run(const Params& p, torch::Tensor x) {
  for (size_t i = 0; i + 1 < p.size(); i += 2) {
    x = torch::nn::functional::linear(x, p[i], p[i + 1]);
    if (i + 2 < p.size()) x = torch::relu(x);
  }
  return x;
}

Params makeParams(const std::vector<int64_t>& widths) {
  Params p;
  for (size_t i = 1; i < widths.size(); ++i) {
    p.push_back((torch::randn({widths[i], widths[i - 1]}) * std::sqrt(2.0 / widths[i - 1])).requires_grad_());  // RIGHT: torch-non-leaf-parameter (requires_grad_ comes last)
    p.push_back(torch::zeros({widths[i]}, torch::requires_grad()));
  }
  return p;
}

Params adapt(const Params& start, const SineTask& task, int steps, double lr) {
  auto [x, y] = task.sample(10);
  Params fast = start;
  for (int s = 0; s < steps; ++s) {
    auto inner = torch::mse_loss(run(fast, x), y);
    auto grads = torch::autograd::grad({inner}, fast, {}, /*retain_graph=*/true, /*create_graph=*/true);
    Params next;
    for (size_t i = 0; i < fast.size(); ++i)
      next.push_back(fast[i] - lr * grads[i]);  // RIGHT: torch-retained-graph (the meta gradient goes through the inner steps)
    fast = next;  // RIGHT: torch-undetached-hidden-state (backwarded as a whole by the outer loss)
  }
  return fast;
}

double evaluate(const Params& meta, int tasks) {
  double sum = 0;
  for (int t = 0; t < tasks; ++t) {
    auto task = SineTask::draw();
    Params mine;
    for (auto& p : meta) mine.push_back(p.detach().clone().requires_grad_());
    torch::optim::Adam optimizer(mine, 0.01);  // RIGHT: torch-optimizer-in-loop (one for each task, over copies of its own, and for several steps)
    auto [x, y] = task.sample(10);
    for (int k = 0; k < 5; ++k) {
      optimizer.zero_grad();
      torch::mse_loss(run(mine, x), y).backward();
      optimizer.step();
    }
    torch::NoGradGuard guard;
    auto [qx, qy] = task.sample(100);
    sum += torch::mse_loss(run(mine, qx), qy).item<double>();
  }
  return sum / tasks;
}

int main() {
  torch::manual_seed(4);
  Params meta = makeParams({1, 40, 40, 1});
  std::vector<torch::Tensor> curve;
  std::vector<torch::Tensor> travelled;

  std::cout << "before: " << evaluate(meta, 20) << "\n";
  for (int outer = 0; outer < 60; ++outer) {
    torch::optim::Adam metaOptimizer(meta, torch::optim::AdamOptions(1e-3));  // EXPECT: torch-optimizer-in-loop
    metaOptimizer.zero_grad();
    torch::Tensor total = torch::zeros({1});
    for (int t = 0; t < 4; ++t) {
      auto task = SineTask::draw();
      auto fast = adapt(meta, task, 2, 0.01);
      auto [x, y] = task.sample(20);
      auto query = torch::mse_loss(run(fast, x), y);
      total = total + query;  // RIGHT: torch-retained-graph (the sum over the tasks is backwarded as a whole)
      if (t == 0)
        travelled.push_back((fast[2] - meta[2]).norm());  // EXPECT: torch-retained-graph
    }
    total.backward();
    metaOptimizer.step();
    curve.push_back(total.detach() / 4);  // RIGHT: torch-retained-graph (detached)
  }
  std::cout << "after: " << evaluate(meta, 20) << "\n";
  std::cout << "first " << curve.front().item<float>() << " last " << curve.back().item<float>()
            << " mean inner distance " << torch::stack(travelled).mean().item<float>() << "\n";
  return 0;
}
