#include <torch/torch.h>

#include <functional>
#include <memory>

struct Job {
  std::function<void(double)> done;
  double last = 0;
};

static void weak() {
  auto job = std::make_shared<Job>();
  std::weak_ptr<Job> seen = job;
  job->done = [seen](double loss) { seen.lock()->last = loss; };
}

static void hooks(torch::Tensor x) {
  auto y = x * 2;
  y.register_hook([](torch::Tensor grad) { return grad; });
  y.register_hook([&](torch::Tensor grad) { return grad * x; });
}

static Job once;

int main() {
  weak();
  // Lives as long as the program.
  auto whole = std::make_shared<Job>();
  whole->done = [](double) {};
  once.done = [](double) {};
  hooks(torch::ones({2}, torch::requires_grad()));
}
