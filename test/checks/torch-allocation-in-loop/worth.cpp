// RUN: %check_torch %s torch-allocation-in-loop %t -still-warns -- -config="{CheckOptions: {torch-allocation-in-loop.Strict: true}}"

// What is worth a change: constants and scratch of some size, made for each
// step. Random numbers cost what they cost, a few thousand elements cost
// nothing, and neither does what a long inner loop works with.
#include <limits>
#include <torch/torch.h>

using torch::Tensor;

void use(const Tensor &x);

// A mask is the same in every iteration, whatever its constant is called.
void masks(const std::vector<Tensor> &xs, int64_t n) {
  for (const auto &x : xs) {
    auto causal = torch::full({n, n}, -INFINITY).triu(1);
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: 'torch::full' makes the same tensor in every iteration
    auto padding = torch::full({n, n}, -std::numeric_limits<float>::infinity());
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: 'torch::full' makes the same tensor in every iteration
    use(x + causal + padding);
  }
}

// CHECK-FIXES: {{^}}  auto mask = torch::full({size, size}, std::numeric_limits<double>::lowest());
template <class T> void lowest(const std::vector<Tensor> &xs, int64_t size) {
  for (const auto &x : xs) {
    auto mask = torch::full({size, size}, std::numeric_limits<double>::lowest());
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::full' makes the same tensor in every iteration
    use(x + mask);
  }
}
template void lowest<float>(const std::vector<Tensor> &, int64_t);

// Not a constant: it counts.
static double level() {
  static double value = 0;
  return value += 1;
}
void changes(const std::vector<Tensor> &xs, int64_t n) {
  for (const auto &x : xs) {
    auto mask = torch::full({n, n}, level());
    use(x + mask);
  }
}

struct Sampler {
  int64_t batch = 512;
  void run(torch::nn::Linear net) {
    for (int i = 0; i < 1000; ++i) {
      auto noise = torch::randn({batch, 4096});
      auto chosen = torch::randint(0, 10, {batch, 512});
      auto keep = torch::rand_like(noise);
      use(net->forward(noise * keep) + chosen);
    }
  }
};

// Known to be small: by constants, by variables that keep theirs, by a caller.
static void flags(int64_t length) {
  auto seen = torch::zeros({length}, torch::kBool);
  seen[0] = true;
  use(seen.sum());
}
void small(const std::vector<Tensor> &xs) {
  const int64_t heads = 8;
  int64_t width = 64;
  for (const auto &x : xs) {
    auto bias = torch::zeros({heads, width});
    bias += x;
    auto identity = torch::eye(60);
    use(bias + identity);
    flags(256);
  }
}
// One that changes is not known.
void grows(const std::vector<Tensor> &xs) {
  int64_t width = 64;
  while (width < 4096)
    width *= 2;
  for (const auto &x : xs) {
    auto bias = torch::zeros({128, width});
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::zeros' allocates a tensor of the same shape in every iteration
    bias += x;
    use(bias.sum());
  }
}

// A buffer of a call, which many steps fill.
static Tensor decode(torch::nn::Linear net, Tensor x, int64_t steps) {
  auto tokens = torch::zeros({steps, 4096});
  for (int64_t i = 0; i < steps; ++i) {
    x = net->forward(x);
    tokens[i] = x;
  }
  return tokens.argmax(1).clone();
}
void decodeAll(torch::nn::Linear net, const std::vector<Tensor> &xs) {
  torch::NoGradGuard no_grad;
  for (const auto &x : xs)
    use(decode(net, x, 100));
}
// Few steps do not make it cheap.
void fewSteps(const std::vector<Tensor> &xs, int64_t n) {
  for (const auto &x : xs) {
    auto sum = torch::zeros({n, n});
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'torch::zeros' allocates a tensor of the same shape in every iteration
    for (int i = 0; i < 3; ++i)
      sum += x;
    use(sum.sum());
  }
}
