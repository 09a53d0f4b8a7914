// What scores become, and what losses take.
#include "torch/Scores.h"
#include "gtest/gtest.h"

using namespace torchtidy::torch;

namespace {

const Operation &op(llvm::StringRef Name) {
  const Operation *Found = findOperation(Name, operation::Function);
  if (!Found)
    Found = findOperation(Name, operation::Method);
  EXPECT_NE(Found, nullptr) << Name.str();
  return *Found;
}

} // namespace

TEST(ScoresTest, WhatOperationsMake) {
  EXPECT_EQ(scaleOf(op("softmax")), Scale::Probabilities);
  EXPECT_EQ(scaleOf(op("sigmoid")), Scale::Sigmoids);
  EXPECT_EQ(scaleOf(op("log_softmax")), Scale::LogProbabilities);
  EXPECT_EQ(scaleOf(op("matmul")), Scale::Scores);
  EXPECT_EQ(scaleOf(op("relu")), std::nullopt);
}

TEST(ScoresTest, ElementsThatStay) {
  for (const char *Name : {"gather", "view", "squeeze", "clone", "detach", "to",
                           "cat", "index_select", "permute"})
    EXPECT_TRUE(keepsNumbers(op(Name))) << Name;
  for (const char *Name : {"mul", "mean", "exp", "softmax", "where"})
    EXPECT_FALSE(keepsNumbers(op(Name))) << Name;
}

TEST(ScoresTest, WhatLossesTake) {
  EXPECT_EQ(scaledLoss(op("cross_entropy_loss")), ScaledLoss::CrossEntropy);
  EXPECT_EQ(scaledLoss(op("mse_loss")), std::nullopt);
  EXPECT_TRUE(takes(ScaledLoss::CrossEntropy, Scale::Scores));
  EXPECT_TRUE(takes(ScaledLoss::CrossEntropy, Scale::LogProbabilities));
  EXPECT_FALSE(takes(ScaledLoss::CrossEntropy, Scale::Probabilities));
  EXPECT_FALSE(takes(ScaledLoss::NegativeLogLikelihood, Scale::Scores));
  EXPECT_TRUE(takes(ScaledLoss::Binary, Scale::Sigmoids));
  EXPECT_FALSE(takes(ScaledLoss::BinaryWithLogits, Scale::Sigmoids));
}
