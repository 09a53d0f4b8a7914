// RUN: %check_torch %s torch-allocation-in-loop %t

// A comment behind a declaration goes with it, and what is put before a loop
// does not come between it and its NOLINTNEXTLINE.
#include <torch/torch.h>

torch::Tensor masked(const std::vector<torch::Tensor> &in) {
  auto sum = torch::zeros({1});
  // CHECK-FIXES: {{^}}  auto mask = torch::ones({512, 512}).tril();  // causal
  // CHECK-FIXES-NEXT: {{^}}  // NOLINTNEXTLINE(modernize-loop-convert): why
  // CHECK-FIXES-NEXT: {{^}}  for (size_t i = 0; i < in.size(); ++i) {
  // CHECK-FIXES: {{^}}    sum += (in[i] * mask).sum();
  // NOLINTNEXTLINE(modernize-loop-convert): why
  for (size_t i = 0; i < in.size(); ++i) {
    auto mask = torch::ones({512, 512}).tril();  // causal
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::ones' makes the same tensor in every iteration
    sum += (in[i] * mask).sum();
  }
  return sum;
}

// A NOLINTNEXTLINE above the declaration goes with it, and the next line keeps all of its
// indentation.
torch::Tensor marked(const std::vector<torch::Tensor> &in) {
  auto sum = torch::zeros({1});
  // CHECK-FIXES: {{^}}  // NOLINTNEXTLINE(readability-identifier-naming): as in the paper
  // CHECK-FIXES-NEXT: {{^}}  auto M = torch::ones({512, 512}).tril();
  // CHECK-FIXES-NEXT: {{^}}  for (const auto &x : in) {
  // CHECK-FIXES-NEXT: {{^}}    sum += (x * M).sum();
  for (const auto &x : in) {
    // NOLINTNEXTLINE(readability-identifier-naming): as in the paper
    auto M = torch::ones({512, 512}).tril();
    sum += (x * M).sum();
    // CHECK-MESSAGES: :[[@LINE-2]]:14: warning: 'torch::ones' makes the same tensor in every iteration
  }
  return sum;
}

// Where something takes the place of the declaration, too.
int64_t replaced(const std::vector<torch::Tensor> &in) {
  int64_t sum = 0;
  // CHECK-FIXES: {{^}}  // NOLINTNEXTLINE(readability-identifier-naming): as in the paper
  // CHECK-FIXES-NEXT: {{^}}  auto M = torch::zeros({128, 64}, torch::kInt64);
  // CHECK-FIXES-NEXT: {{^}}  for (const auto &x : in) {
  // CHECK-FIXES-NEXT: {{^}}    M.zero_();
  // CHECK-FIXES-NEXT: {{^}}    M += x;
  for (const auto &x : in) {
    // NOLINTNEXTLINE(readability-identifier-naming): as in the paper
    auto M = torch::zeros({128, 64}, torch::kInt64);
    M += x;
    sum += M.max().item<int64_t>();
    // CHECK-MESSAGES: :[[@LINE-3]]:14: warning: 'torch::zeros'
  }
  return sum;
}

// Two lines that follow one another: both go, one empty line is left.
torch::Tensor both(const std::vector<torch::Tensor> &in) {
  auto sum = torch::zeros({1});
  // CHECK-FIXES: {{^}}  auto ones = torch::ones({512, 512});
  // CHECK-FIXES-NEXT: {{^}}  auto zeros = torch::zeros({512, 512}); // none
  // CHECK-FIXES-NEXT: {{^}}  for (const auto &x : in) {
  // CHECK-FIXES-EMPTY:
  // CHECK-FIXES-NEXT: {{^}}    sum += (x * ones + zeros).sum();
  for (const auto &x : in) {
    auto ones = torch::ones({512, 512});
    auto zeros = torch::zeros({512, 512}); // none
    sum += (x * ones + zeros).sum();
    // CHECK-MESSAGES: :[[@LINE-3]]:17: warning: 'torch::ones' makes the same tensor in every iteration
    // CHECK-MESSAGES: :[[@LINE-3]]:18: warning: 'torch::zeros' makes the same tensor in every iteration
  }
  return sum;
}
