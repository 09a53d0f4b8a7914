// RUN: %check_torch -still-warns %s torch-allocation-in-loop %t -- -config="{CheckOptions: {torch-allocation-in-loop.Strict: true}}"
//
// Findings without a fix, and some where a careless one would not compile. The
// first function shows that --fix did run.

#include <torch/torch.h>

using torch::Tensor;

void plain(const std::vector<Tensor> &xs) {
  // CHECK-FIXES: {{^}}  auto sum = torch::zeros({128, 64});
  // CHECK-FIXES-NEXT: {{^}}  for (const auto &x : xs) {
  for (const auto &x : xs) {
    auto sum = torch::zeros({128, 64});
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'torch::zeros' allocates a tensor of the same shape
    // CHECK-FIXES-NEXT: {{^}}    sum.zero_();
    sum += x;
    std::cout << sum.max().item<float>() << '\n';
  }
}

// It is not a variable.
void unnamed(const std::vector<Tensor> &xs) {
  for (const auto &x : xs)
    std::cout << torch::mse_loss(x, torch::zeros({6400, 1})).item<float>() << '\n';
  // CHECK-MESSAGES: :[[@LINE-1]]:37: warning: 'torch::zeros' makes the same tensor in every iteration; create it once before the loop
  // CHECK-FIXES: {{^}}    std::cout << torch::mse_loss(x, torch::zeros({6400, 1})).item<float>()
}

// The loop is in the caller.
static float inHelper(const Tensor &x) {
  auto mask = torch::full({128, 64}, 0.5);
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: 'torch::full' makes the same tensor
  // CHECK-FIXES: {{^}}  auto mask = torch::full({128, 64}, 0.5);
  return (x * mask).sum().item<float>();
}

void callsHelper(const std::vector<Tensor> &xs) {
  for (const auto &x : xs)
    std::cout << inHelper(x) << '\n';
}

// The initializer uses a variable of the loop.
void usesLocal(const std::vector<Tensor> &xs, int64_t rows) {
  for (const auto &x : xs) {
    const int64_t n = rows * 2;
    auto mask = torch::ones({n, n});
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::ones' makes the same tensor
    // CHECK-FIXES: {{^}}    auto mask = torch::ones({n, n});
    std::cout << (x * mask).sum().item<float>() << '\n';
  }
}

// ----- with or without a fix, the file must compile -----

// The loop is the only statement of a branch.
void withoutBraces(const std::vector<Tensor> &xs, bool wanted) {
  if (wanted)
    for (const auto &x : xs) {
      auto mask = torch::full({128, 64}, 0.5);
      // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: 'torch::full' makes the same tensor
      std::cout << (x * mask).sum().item<float>() << '\n';
    }
  else
    std::cout << "nothing\n";
}

// Both would become variables of the function.
void sameName(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    auto mask = torch::full({128, 64}, 0.5);
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::full' makes the same tensor
    std::cout << (x * mask).sum().item<float>() << '\n';
  }
  for (const auto &x : xs) {
    auto mask = torch::full({256, 32}, 0.25);
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::full' makes the same tensor
    std::cout << (x * mask).sum().item<float>() << '\n';
  }
}

// The name is taken outside of the loop, by a parameter and by a variable.
void shadows(const std::vector<Tensor> &xs, const Tensor &mask) {
  int total = 0;
  for (const auto &x : xs) {
    auto mask = torch::full({128, 64}, 0.5);
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::full' makes the same tensor
    auto total = torch::ones({128, 64});
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'torch::ones' makes the same tensor
    std::cout << (x * mask + total).sum().item<float>() << '\n';
  }
  std::cout << mask.sum().item<float>() << total << '\n';
}

void declaredTogether(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    Tensor half = torch::full({128, 64}, 0.5), twice = x * 2;
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: 'torch::full' makes the same tensor
    std::cout << (twice * half).sum().item<float>() << '\n';
  }
}

void inLambda(const std::vector<Tensor> &xs) {
  std::for_each(xs.begin(), xs.end(), [](const Tensor &x) {
    auto half = torch::full({128, 64}, 0.5);
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::full' makes the same tensor
    std::cout << (x * half).sum().item<float>() << '\n';
  });
}

void behindLabel(const std::vector<Tensor> &xs, int kind) {
  switch (kind) {
  case 1:
    for (const auto &x : xs) {
      auto half = torch::full({128, 64}, 0.5);
      // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: 'torch::full' makes the same tensor
      std::cout << (x * half).sum().item<float>() << '\n';
    }
    break;
  default:
    std::cout << "nothing\n";
  }
}

#define MAKE_MASK(name) auto name = torch::full({128, 64}, 0.5)

void inMacro(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    MAKE_MASK(mask);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'torch::full' makes the same tensor
    // CHECK-FIXES: {{^}}    MAKE_MASK(mask);
    std::cout << (x * mask).sum().item<float>() << '\n';
  }
}

void assigned(const std::vector<Tensor> &xs) {
  Tensor sum;
  for (const auto &x : xs) {
    sum = torch::zeros({128, 64});
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'torch::zeros' allocates a tensor of the same shape
    sum += x;
    std::cout << sum.max().item<float>() << '\n';
  }
}
// CHECK-FIXES: int last;
int last;
