// RUN: %check_torch %s torch-allocation-in-loop %t
//
// What a test allocates is of no concern.

#include <torch/torch.h>

#include <gtest/gtest.h>

static float sumOfSteps(int64_t steps) {
  float sum = 0;
  for (int64_t i = 0; i < steps; ++i) {
    auto table = torch::zeros({128, 64});
    sum += table.sum().item<float>();
  }
  return sum;
}

TEST(Sum, IsZero) {
  EXPECT_EQ(sumOfSteps(10), 0);
  for (int i = 0; i < 10; ++i) {
    auto ones = torch::ones({128, 64});
    EXPECT_EQ(ones.sum().item<float>(), 8192);
  }
}

float program(int64_t steps) {
  float sum = 0;
  for (int64_t i = 0; i < steps; ++i) {
    auto table = torch::zeros({128, 64});
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning:
    sum += table.sum().item<float>();
  }
  return sum;
}
