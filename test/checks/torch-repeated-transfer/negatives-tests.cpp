// RUN: %check_torch %s torch-repeated-transfer %t
//
// What a test copies is of no concern.

#include <torch/torch.h>

#include <gtest/gtest.h>

using torch::Tensor;

TEST(Sum, IsTheSameOnTheDevice) {
  const Tensor table = torch::ones({64, 64});
  float sum = 0;
  for (int i = 0; i < 10; ++i)
    sum += table.to(torch::kCUDA).sum().item<float>();
  EXPECT_EQ(sum, 40960);
}

float program(const Tensor &table, int64_t steps) {
  float sum = 0;
  for (int64_t i = 0; i < steps; ++i)
    sum += table.to(torch::kCUDA).sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning:
  return sum;
}
